#include "worker_sdk/src/own_sockets.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <system_error>

namespace ddp::detail {
namespace {

std::string written(int family, const void* address, in_port_t port) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (!inet_ntop(family, address, text.data(), text.size()) || port == 0) return "";
  return "[" + std::string(text.data()) + "]:" + std::to_string(ntohs(port));
}

using AskForName = int (*)(int, sockaddr*, socklen_t*);

// Of one end, as getsockname or getpeername says; empty for anything but a bound, or connected,
// socket.
std::string address_of(int fd, AskForName ask) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (ask(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return "";
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

std::vector<int> own_descriptors() {
  std::vector<int> all;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string name = entry.path().filename();
    int fd = -1;
    std::from_chars(name.data(), name.data() + name.size(), fd);
    all.push_back(fd);
  }
  return all;
}

// 0 where there is none.
std::uint64_t inode_of(int fd) {
  struct stat found {};
  return ::fstat(fd, &found) == 0 ? found.st_ino : 0;
}

std::uint64_t bytes_moved(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  const bool told = ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
                    size >= offsetof(tcp_info, tcpi_bytes_received) + sizeof(std::uint64_t);
  return told ? info.tcpi_bytes_acked + info.tcpi_bytes_received : 0;
}

}  // namespace

std::vector<std::string> own_socket_addresses() {
  std::vector<std::string> addresses;
  for (const int fd : own_descriptors()) {
    if (std::string address = address_of(fd, ::getsockname); !address.empty()) {
      addresses.push_back(std::move(address));
    }
  }
  return addresses;
}

std::vector<Connection> own_connections() {
  std::vector<Connection> all;
  for (const int fd : own_descriptors()) {
    std::string peer = address_of(fd, ::getpeername);
    if (!peer.empty()) all.push_back({fd, inode_of(fd), std::move(peer)});
  }
  return all;
}

std::vector<Connection> made_since(const std::vector<Connection>& before,
                                   std::vector<Connection> now) {
  std::erase_if(now, [&](const Connection& each) {
    return std::ranges::any_of(before, [&](const auto& old) { return old.inode == each.inode; });
  });
  return now;
}

bool is_held(const Connection& connection) {
  return inode_of(connection.fd) == connection.inode;
}

std::uint64_t bytes_moved(const std::vector<Connection>& connections) {
  std::uint64_t sum = 0;
  for (const Connection& each : connections) {
    if (is_held(each)) sum += bytes_moved(each.fd);
  }
  return sum;
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
