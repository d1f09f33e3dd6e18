#include "rendezvous/server/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "rendezvous/server/port_holder.h"

namespace ddprun::server {
namespace {

using boost::asio::ip::tcp;

// Connections that wait to be accepted. The kernel takes less, net.core.somaxconn, and thousands of
// ranks come at once; SOMAXCONN would be 4,096 whatever an administrator has set.
constexpr int kAcceptQueue = 1 << 16;

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

// Nothing if the socket has no such address.
std::optional<tcp::endpoint> bound_to(int socket) {
  tcp::endpoint endpoint;
  auto size = static_cast<socklen_t>(endpoint.capacity());
  if (::getsockname(socket, endpoint.data(), &size) != 0 || size > endpoint.capacity()) return {};
  const int family = endpoint.data()->sa_family;
  if (family != AF_INET && family != AF_INET6) return {};
  endpoint.resize(size);
  return endpoint;
}

Listener listener_of(UniqueFd socket, const tcp::endpoint& bound) {
  return {std::move(socket), bound.port(), bound.address().to_string()};
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
  if (::bind(fd.get(), address.raw(), address.size) != 0 || ::listen(fd.get(), kAcceptQueue) != 0) {
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
  const auto bound = bound_to(fd.get());
  if (!bound) return failure(address, port, port_advice, errno);
  return listener_of(std::move(fd), *bound);
}

Result<Listener> adopt_listener(UniqueFd socket) {
  int listens = 0;
  socklen_t size = sizeof listens;
  const auto bound = bound_to(socket.get());
  if (!bound || ::getsockopt(socket.get(), SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 ||
      listens == 0)
    return Error{"descriptor " + std::to_string(socket.get()) + " is no listening TCP socket"};
  ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
  return listener_of(std::move(socket), *bound);
}

}  // namespace ddprun::server
