#include "rendezvous/server/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "rendezvous/server/port_holder.h"

namespace ddprun::server {
namespace {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  sockaddr* raw() { return reinterpret_cast<sockaddr*>(&storage); }
};

bool parse_ipv4(const std::string& text, std::uint16_t port, Address& address) {
  auto* ipv4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  if (inet_pton(AF_INET, text.c_str(), &ipv4->sin_addr) != 1) return false;
  ipv4->sin_family = AF_INET;
  ipv4->sin_port = htons(port);
  address.size = sizeof(sockaddr_in);
  return true;
}

bool parse_ipv6(const std::string& text, std::uint16_t port, Address& address) {
  auto* ipv6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET6, text.c_str(), &ipv6->sin6_addr) != 1) return false;
  ipv6->sin6_family = AF_INET6;
  ipv6->sin6_port = htons(port);
  address.size = sizeof(sockaddr_in6);
  return true;
}

std::uint16_t bound_port(int socket) {
  Address address;
  address.size = sizeof address.storage;
  getsockname(socket, address.raw(), &address.size);
  // The port lies at the same place in both families.
  return ntohs(reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port);
}

// The socket, or an empty one with errno set.
UniqueFd listen_on(Address& address) {
  UniqueFd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fd;
  const int on = 1;
  const int off = 0;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.storage.ss_family == AF_INET6) {
    setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  }
  if (::bind(fd.get(), address.raw(), address.size) != 0 || ::listen(fd.get(), SOMAXCONN) != 0) {
    const int error = errno;
    fd.reset();
    errno = error;
  }
  return fd;
}

Error failure(const std::string& address, std::uint16_t port, const std::string& port_advice,
              int error) {
  const std::string where = address.empty() ? "all addresses" : "address " + address;
  const std::string what = port == 0 ? "a free port" : "port " + std::to_string(port);
  std::string text = "cannot listen on " + what + " of " + where + ": ";
  if (error == EADDRINUSE) {
    text += "the port is held by " + describe_port_holder(port) + "; " + port_advice;
  } else if (error == EADDRNOTAVAIL) {
    text += "no interface of this host has the address";
  } else if (error == EACCES) {
    text += "ports below 1024 need more rights; " + port_advice;
  } else {
    text += std::strerror(error);
  }
  return Error{text};
}

}  // namespace

Result<Listener> open_listener(const std::string& address, std::uint16_t port,
                               const std::string& port_advice) {
  Address wanted;
  if (!parse_ipv4(address, port, wanted) &&
      !parse_ipv6(address.empty() ? "::" : address, port, wanted)) {
    return Error{"cannot listen on '" + address + "': it is no IPv4 or IPv6 address"};
  }
  UniqueFd fd = listen_on(wanted);
  if (!fd && address.empty() && errno != EADDRINUSE) {
    parse_ipv4("0.0.0.0", port, wanted);
    fd = listen_on(wanted);
  }
  if (!fd) return failure(address, port, port_advice, errno);
  const std::uint16_t real_port = bound_port(fd.get());
  return Listener{std::move(fd), real_port};
}

}  // namespace ddprun::server
