#include "rendezvous/etcd/place.h"

#include <algorithm>
#include <optional>

#include "rendezvous/base/printable.h"

namespace ddprun::etcd {
namespace {

constexpr std::string_view kScheme = "etcd://";
constexpr std::string_view kDefaultPrefix = "/ddprun/";

constexpr std::string_view kOfHosts =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:%";

std::string quoted(std::string_view text) {
  return "'" + printable(std::string(text)) + "'";
}

Result<Endpoint> read_member(std::string_view text) {
  auto endpoint = parse_endpoint(text);
  if (!endpoint) return endpoint.error();
  if (endpoint->host.empty()) return Error{quoted(text) + " has no host; write etcd://HOST:PORT"};
  if (endpoint->host.find_first_not_of(kOfHosts) != std::string::npos)
    return Error{quoted(endpoint->host) + " is no host"};
  // Without a port the parser gives rdzvd's.
  if (text == endpoint->host || text == "[" + endpoint->host + "]") endpoint->port = kDefaultPort;
  if (endpoint->port == 0) return Error{quoted(text) + ": port 0 is no member of etcd"};
  return endpoint;
}

std::optional<Error> refuse(std::string_view text) {
  if (text.starts_with("etcds://") || text.starts_with("https://"))
    return Error{quoted(text) +
                 ": rdzvd does not speak TLS with etcd yet; write etcd://HOST:PORT, on a network "
                 "that nobody else is on"};
  if (!text.starts_with(kScheme))
    return Error{quoted(text) + " is no place for the state; write etcd://HOST:PORT"};
  if (text.find('@') != std::string_view::npos)
    return Error{
        "rdzvd does not log in to etcd yet; write etcd://HOST:PORT without a name and a "
        "password"};
  return {};
}

}  // namespace

Result<Place> parse_place(std::string_view text) {
  if (auto error = refuse(text)) return *error;
  std::string_view rest = text.substr(kScheme.size());
  Place place;
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  place.prefix = rest.substr(slash);
  if (place.prefix.empty() || place.prefix == "/") place.prefix = kDefaultPrefix;
  if (!place.prefix.ends_with('/')) place.prefix += '/';
  for (std::string_view list = rest.substr(0, slash);;) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const auto member = read_member(list.substr(0, comma));
    if (!member) return member.error();
    place.members.push_back(*member);
    if (comma == list.size()) return place;
    list.remove_prefix(comma + 1);
  }
}

std::string to_text(const Place& place) {
  std::string text = "etcd at ";
  for (const Endpoint& member : place.members)
    text += (&member == place.members.data() ? "" : ", ") + ddprun::to_text(member);
  return text + ", below " + place.prefix;
}

}  // namespace ddprun::etcd
