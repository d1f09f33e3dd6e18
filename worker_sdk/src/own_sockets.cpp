#include "worker_sdk/src/own_sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <system_error>

namespace ddp::detail {
namespace {

std::string written(int family, const void* address, in_port_t port) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (!inet_ntop(family, address, text.data(), text.size()) || port == 0) return "";
  return "[" + std::string(text.data()) + "]:" + std::to_string(ntohs(port));
}

// Empty for anything but a bound socket.
std::string address_of(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return "";
  if (storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    return written(AF_INET, &v4->sin_addr, v4->sin_port);
  }
  if (storage.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    return written(AF_INET6, &v6->sin6_addr, v6->sin6_port);
  }
  return "";
}

}  // namespace

std::vector<std::string> own_socket_addresses() {
  std::vector<std::string> addresses;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string name = entry.path().filename();
    int fd = -1;
    std::from_chars(name.data(), name.data() + name.size(), fd);
    if (std::string address = address_of(fd); !address.empty()) addresses.push_back(address);
  }
  return addresses;
}

std::string address_in(const std::string& text) {
  for (auto close = text.find("]:"); close != std::string::npos;
       close = text.find("]:", close + 1)) {
    const auto open = text.rfind('[', close);
    const auto end = text.find_first_not_of("0123456789", close + 2);
    const auto last = end == std::string::npos ? text.size() : end;
    if (open != std::string::npos && last > close + 2) return text.substr(open, last - open);
  }
  return "";
}

std::string with_swapped_port(const std::string& address) {
  const auto colon = address.rfind("]:");
  unsigned port = 0;
  if (colon == std::string::npos) return address;
  std::from_chars(address.data() + colon + 2, address.data() + address.size(), port);
  return address.substr(0, colon + 2) + std::to_string((port & 0xff) << 8 | (port >> 8 & 0xff));
}

}  // namespace ddp::detail
