#include "rendezvous/base/endpoint.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace ddprun {
namespace {

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return port;
}

}  // namespace

bool is_ipv6(std::string_view text) {
  const std::size_t end = std::min(text.find('%'), text.size());
  const std::string_view zone = text.substr(end);
  // What is read behind a zero byte would be something else.
  if (text.find('\0') != std::string_view::npos) return false;
  if (zone == "%" || zone.find_first_of(":/?#[] \t") != std::string_view::npos) return false;
  in6_addr address{};
  return ::inet_pton(AF_INET6, std::string(text.substr(0, end)).c_str(), &address) == 1;
}

std::string_view authority_of_url(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos || scheme == 0) return {};
  const std::string_view rest = text.substr(scheme + 3);
  return rest.substr(0, rest.find_first_of("/?#"));
}

std::string endpoint_slip(std::string_view text) {
  const std::string quoted = "'" + std::string(text) + "'";
  if (const std::string_view authority = authority_of_url(text); !authority.empty())
    return quoted + " is a URL; write " + std::string(authority);
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || is_ipv6(text) || !is_ipv6(text.substr(0, colon)) ||
      !parse_port(text.substr(colon + 1)))
    return "";
  return quoted + " is an IPv6 address without its brackets; write [" +
         std::string(text.substr(0, colon)) + "]" + std::string(text.substr(colon));
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  if (std::string slip = endpoint_slip(text); !slip.empty()) return Error{std::move(slip)};
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos)
    return Error{"'" + std::string(text) + "' has no host; write :" + std::string(text)};
  Endpoint endpoint;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos)
      return Error{"'" + std::string(text) + "' has a [ without ]"};
    endpoint.host = text.substr(1, end - 1);
    rest = text.substr(end + 1);
  } else if (std::ranges::count(text, ':') > 1) {
    if (!is_ipv6(text))
      return Error{"'" + std::string(text) + "' is no address; write HOST:PORT or [IPV6]:PORT"};
    endpoint.host = text;
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    endpoint.host = text.substr(0, colon);
    rest = text.substr(colon);
  }
  if (rest.empty()) return endpoint;
  const auto port = rest.front() == ':' ? parse_port(rest.substr(1)) : std::nullopt;
  if (!port)
    return Error{"'" + std::string(text) + "' does not end with :PORT, a number from 0 to 65535"};
  endpoint.port = *port;
  return endpoint;
}

std::string to_text(const Endpoint& endpoint) {
  const bool ipv6 = endpoint.host.find(':') != std::string::npos;
  return (ipv6 ? "[" + endpoint.host + "]" : endpoint.host) + ":" + std::to_string(endpoint.port);
}

}  // namespace ddprun
