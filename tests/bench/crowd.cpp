#include "tests/bench/crowd.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace ddprun::bench {
namespace {

constexpr std::size_t kOtherFiles = 64;
constexpr std::size_t kBufferBytes = 256 << 10;

void allow_files(std::size_t wanted) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur < wanted)
    throw std::runtime_error("the limit of open files (ulimit -n -H) is " +
                             std::to_string(files.rlim_cur) + ", but " + std::to_string(wanted) +
                             " are needed");
}

[[noreturn]] void fail(std::size_t client, const std::string& what) {
  throw std::runtime_error("client " + std::to_string(client) + ": " + what);
}

[[noreturn]] void fail(std::size_t client, const std::string& what, int error) {
  fail(client, what + ": " + std::generic_category().message(error));
}

// The `next`-th address behind `host`.
sockaddr_in address_of(const std::string& host, std::uint16_t port, std::uint32_t next = 0) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1)
    throw std::runtime_error(host + " is no IPv4 address");
  address.sin_addr.s_addr = htonl(ntohl(address.sin_addr.s_addr) + next);
  return address;
}

const sockaddr* generic(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

}  // namespace

Crowd::Crowd(CrowdOptions options)
    : options_(std::move(options)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      clients_(options_.clients),
      buffer_(kBufferBytes) {
  allow_files(options_.clients + kOtherFiles);
}

void Crowd::connect_one(std::size_t client) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // Without it a bound socket takes a port that no other may use until it is gone.
  ::setsockopt(fd.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  const auto next = static_cast<std::uint32_t>(client / options_.clients_of_source);
  const sockaddr_in source = address_of(options_.source, 0, next),
                    server = address_of("127.0.0.1", options_.port);
  if (::bind(fd.get(), generic(source), sizeof source) != 0) fail(client, "bind", errno);
  if (::connect(fd.get(), generic(server), sizeof server) != 0 && errno != EINPROGRESS)
    fail(client, "connect", errno);
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLET;
  event.data.u64 = client;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd.get(), &event) != 0)
    fail(client, "epoll_ctl", errno);
  clients_[client].fd = std::move(fd);
}

void Crowd::connect_more() {
  while (begun_ < clients_.size() && begun_ - heard_ < options_.at_once) connect_one(begun_++);
}

void Crowd::run(const OnConnected& on_connected, const OnBytes& on_bytes) {
  until_finished(on_connected, on_bytes);
}

void Crowd::go_on(const OnBytes& on_bytes) {
  for (Client& client : clients_) client.finished = false;
  finished_ = 0;
  until_finished({}, on_bytes);
}

void Crowd::until_finished(const OnConnected& on_connected, const OnBytes& on_bytes) {
  const auto deadline = std::chrono::steady_clock::now() + options_.patience;
  std::array<epoll_event, 512> events;
  while (finished_ < clients_.size()) {
    connect_more();
    const int count =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 100);
    for (int i = 0; i < count; ++i)
      handle(events[static_cast<std::size_t>(i)].data.u64, on_connected, on_bytes);
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error("only " + std::to_string(finished_) + " of " +
                               std::to_string(clients_.size()) + " clients have finished in time");
  }
}

void Crowd::handle(std::size_t client, const OnConnected& on_connected, const OnBytes& on_bytes) {
  Client& self = clients_[client];
  if (!self.connected) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(self.fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) fail(client, "connect", error);
    self.connected = true;
    send(client, on_connected(client));
  }
  receive(client, on_bytes);
}

void Crowd::receive(std::size_t client, const OnBytes& on_bytes) {
  Client& self = clients_[client];
  for (;;) {
    const ssize_t size = ::recv(self.fd.get(), buffer_.data(), buffer_.size(), 0);
    if (size < 0 && errno == EAGAIN) return;
    if (size < 0) fail(client, "recv", errno);
    if (size == 0) fail(client, "the server has closed the connection");
    if (!std::exchange(self.heard, true)) ++heard_;
    on_bytes(client, {buffer_.data(), static_cast<std::size_t>(size)});
    // Edge-triggered: less than the buffer holds was all there is.
    if (static_cast<std::size_t>(size) < buffer_.size()) return;
  }
}

void Crowd::send(std::size_t client, std::string_view bytes) {
  const ssize_t sent = ::send(clients_[client].fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent < 0) fail(client, "send", errno);
  if (static_cast<std::size_t>(sent) != bytes.size()) fail(client, "the server takes no more");
}

void Crowd::finish(std::size_t client) {
  if (!std::exchange(clients_[client].finished, true)) ++finished_;
}

}  // namespace ddprun::bench
