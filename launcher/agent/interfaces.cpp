#include "launcher/agent/interfaces.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "launcher/membership/hosting.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::agent {
namespace {

std::string literal(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address->sa_family == AF_INET)
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text,
                sizeof text);
  if (address->sa_family == AF_INET6) {
    const in6_addr& v6 = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
    if (!IN6_IS_ADDR_LINKLOCAL(&v6)) ::inet_ntop(AF_INET6, &v6, text, sizeof text);
  }
  return text;
}

// "br0" is how people bridge a real network; Docker's are "br-" and a number.
bool is_inner_network(std::string_view name) {
  constexpr std::array<std::string_view, 12> kBegin{"docker", "br-", "virbr",   "veth",
                                                    "vnet",   "cni", "flannel", "cali",
                                                    "podman", "lxc", "lxdbr",   "nerdctl"};
  return std::ranges::any_of(kBegin, [&](auto begin) { return name.starts_with(begin); });
}

}  // namespace

std::vector<Interface> interfaces() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(list, &::freeifaddrs);
  std::vector<Interface> found;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    if (std::string text = literal(each->ifa_addr); !text.empty())
      found.push_back({each->ifa_name, std::move(text)});
  }
  return found;
}

// Connecting a datagram socket asks the routing table and sends nothing. The address is one that is
// reserved for examples, so only the default route leads to it.
std::string default_address() {
  const UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(9);
  ::inet_pton(AF_INET, "192.0.2.1", &to.sin_addr);
  sockaddr_in from{};
  socklen_t size = sizeof from;
  if (!fd || ::connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&from), &size) != 0)
    return "";
  return literal(reinterpret_cast<sockaddr*>(&from));
}

std::vector<std::string> addresses_of(const std::vector<Interface>& all) {
  std::vector<std::string> addresses;
  for (const Interface& each : all) addresses.push_back(each.address);
  return addresses;
}

std::vector<std::string> addresses_for_others(const std::vector<Interface>& all,
                                              const std::string& default_address) {
  std::vector<std::string> addresses;
  if (!default_address.empty()) addresses.push_back(default_address);
  for (const Interface& each : all)
    if (each.address != default_address && !membership::is_loopback(each.address) &&
        !is_inner_network(each.name))
      addresses.push_back(each.address);
  return addresses;
}

}  // namespace ddprun::agent
