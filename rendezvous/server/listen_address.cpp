#include "rendezvous/server/listen_address.h"

#include <netdb.h>

#include <array>
#include <boost/asio/ip/address.hpp>
#include <memory>
#include <set>
#include <string>

namespace ddprun::server {
namespace {

bool is_literal(const std::string& host) {
  boost::system::error_code error;
  boost::asio::ip::make_address(host, error);
  return !error;
}

bool is_loopback_literal(const std::string& text) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(text, error);
  return !error && address.is_loopback();
}

// The names that mean this host and nothing else; a host's own name may resolve to loopback too.
bool names_loopback(const std::string& host) {
  static const std::set<std::string> names{"localhost", "localhost.", "localhost.localdomain",
                                           "ip6-localhost", "ip6-loopback"};
  return names.contains(host) || host.ends_with(".localhost");
}

}  // namespace

ListenAddress choose_listen_address(const std::string& host,
                                    const std::vector<std::string>& addresses, bool many_hosts) {
  if (host.empty() || is_literal(host)) return {.address = host};
  const std::string& first = addresses.front();
  if (!is_loopback_literal(first) || names_loopback(host) || !many_hosts) return {.address = first};
  return {.note = "the name " + host + " resolves to " + first +
                  " on this host, which other nodes cannot reach: listening on all addresses "
                  "instead; give an address to bind exactly that one"};
}

Result<ListenAddress> find_listen_address(const std::string& host, bool many_hosts) {
  if (host.empty() || is_literal(host)) return choose_listen_address(host, {}, many_hosts);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); error != 0)
    return Error{"the host name '" + host + "' does not resolve: " + ::gai_strerror(error)};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(each->ai_addr, each->ai_addrlen, text.data(), text.size(), nullptr, 0,
                      NI_NUMERICHOST) == 0)
      addresses.emplace_back(text.data());
  }
  if (addresses.empty()) return Error{"the host name '" + host + "' has no address"};
  return choose_listen_address(host, addresses, many_hosts);
}

}  // namespace ddprun::server
