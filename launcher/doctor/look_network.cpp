#include "launcher/doctor/look_network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <sstream>

#include "rendezvous/base/read_file.h"
#include "rendezvous/base/unique_fd.h"
#include "rendezvous/server/port_holder.h"

namespace ddprun::doctor {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// What a child says of a failure, in place of addresses.
constexpr char kFailure = '!';

std::string numeric(const sockaddr* address, socklen_t size) {
  char text[NI_MAXHOST];
  const int code = ::getnameinfo(address, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return code == 0 ? text : "";
}

// A line for each address, or one with the reason why there is none.
std::string look_up(const std::string& name, Addresses& found) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int code = ::getaddrinfo(name.c_str(), nullptr, &hints, &list);
  if (code != 0) return kFailure + std::string(::gai_strerror(code)) + "\n";
  found.reset(list);
  std::string text;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next)
    text += numeric(entry->ai_addr, entry->ai_addrlen) + "\n";
  return text;
}

// The reason why nobody takes a connection there, "" when somebody does. Waits as long as the
// kernel does.
std::string connect_to(const addrinfo& entry, std::uint16_t port) {
  sockaddr_storage address{};
  ::memcpy(&address, entry.ai_addr, entry.ai_addrlen);
  if (address.ss_family == AF_INET)
    reinterpret_cast<sockaddr_in*>(&address)->sin_port = htons(port);
  else
    reinterpret_cast<sockaddr_in6*>(&address)->sin6_port = htons(port);
  const UniqueFd fd(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return ::connect(fd.get(), generic, entry.ai_addrlen) == 0 ? "" : ::strerror(errno);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void take_lines(const std::vector<std::string>& lines, HostName& host) {
  for (const std::string& line : lines) {
    if (line.starts_with(kFailure))
      host.failure = line.substr(1);
    else if (std::ranges::find(host.addresses, line) == host.addresses.end())
      host.addresses.push_back(line);
  }
}

bool listens(in_addr_t where, std::uint16_t port) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(where);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return fd && ::bind(fd.get(), generic, sizeof address) == 0 && ::listen(fd.get(), 1) == 0;
}

}  // namespace

Question ask_host(const std::string& name) {
  return Question([name] {
    Addresses found(nullptr, &::freeaddrinfo);
    return look_up(name, found);
  });
}

HostName read_host(const std::string& name, Question& question, Question::Clock::time_point until) {
  HostName host{.name = name};
  const auto text = question.answer(until);
  host.took = question.took();
  host.timed_out = !text;
  take_lines(lines_of(text.value_or("")), host);
  return host;
}

Question ask_connection(const cli::MeetingPoint& point) {
  return Question([point] {
    Addresses found(nullptr, &::freeaddrinfo);
    look_up(point.host, found);
    std::string first;
    for (const addrinfo* entry = found.get(); entry != nullptr; entry = entry->ai_next) {
      const std::string failure = connect_to(*entry, point.port);
      if (failure.empty()) return failure;
      if (first.empty()) first = failure;
    }
    return first;
  });
}

std::vector<Interface> interfaces() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  std::vector<Interface> found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (!(entry->ifa_flags & IFF_UP) || entry->ifa_flags & IFF_LOOPBACK) continue;
    auto known = std::ranges::find(found, entry->ifa_name, &Interface::name);
    if (known == found.end()) known = found.insert(found.end(), {entry->ifa_name, {}});
    const int family = entry->ifa_addr == nullptr ? AF_UNSPEC : entry->ifa_addr->sa_family;
    if (family == AF_INET)
      known->addresses.push_back(numeric(entry->ifa_addr, sizeof(sockaddr_in)));
    if (family == AF_INET6)
      known->addresses.push_back(numeric(entry->ifa_addr, sizeof(sockaddr_in6)));
  }
  return found;
}

Port look_at_port(std::uint16_t number) {
  if (listens(INADDR_ANY, number)) return {number, ""};
  return {number, errno == EADDRINUSE ? server::describe_port_holder(number) : ::strerror(errno)};
}

std::string why_no_loopback() {
  if (listens(INADDR_LOOPBACK, 0)) return "";
  return std::string("cannot listen on 127.0.0.1: ") + ::strerror(errno);
}

std::vector<std::string> firewalls(const std::string& nft_chains) {
  std::vector<std::string> found;
  if (read_file("/etc/ufw/ufw.conf").value_or("").find("\nENABLED=yes") != std::string::npos)
    found.emplace_back("ufw");
  if (::access("/run/firewalld", F_OK) == 0) found.emplace_back("firewalld");
  if (drops_incoming(nft_chains)) found.emplace_back("nftables drops what no rule lets in");
  return found;
}

bool drops_incoming(std::string_view nft_chains) {
  return std::ranges::any_of(lines_of(std::string(nft_chains)), [](const std::string& line) {
    return line.find("hook input") != std::string::npos &&
           line.find("policy drop") != std::string::npos;
  });
}

}  // namespace ddprun::doctor
