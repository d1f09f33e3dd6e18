#include "rendezvous/client/connection.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "rendezvous/guard/tls.h"

namespace ddprun::client {
namespace {

constexpr std::size_t kBufferBytes = 64 << 10;

// True when `events` came before the deadline. A deadline that has passed still polls once.
bool poll_until(int fd, short events, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd entry{fd, events, 0};
    const int found =
        ::poll(&entry, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000)));
    if (found > 0) return true;
    if (found == 0 && Clock::now() >= deadline) return false;
    if (found < 0 && errno != EINTR) return false;
  }
}

// The connected socket, or an empty one with errno set.
UniqueFd connect_to(const addrinfo& address, Clock::time_point deadline) {
  UniqueFd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fd;
  int error = ::connect(fd.get(), address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    socklen_t size = sizeof error;
    error = ETIMEDOUT;
    if (poll_until(fd.get(), POLLOUT, deadline)) {
      getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    }
  }
  if (error != 0) fd.reset();
  errno = error;
  return fd;
}

}  // namespace

Result<Connection> Connection::open(const std::string& host, std::uint16_t port,
                                    Clock::time_point deadline, std::string peer) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failed != 0) return Error{"looking up '" + host + "': " + gai_strerror(failed)};
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, &freeaddrinfo);
  int error = 0;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    UniqueFd fd = connect_to(*address, deadline);
    if (fd) {
      const int on = 1;
      setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      return Connection(std::move(fd), std::move(peer));
    }
    error = errno;
  }
  return Error{std::strerror(error)};
}

Connection::Connection(UniqueFd socket, std::string peer)
    : socket_(std::move(socket)), peer_(std::move(peer)) {}
Connection::Connection(Connection&& other) noexcept = default;
Connection& Connection::operator=(Connection&& other) noexcept = default;
Connection::~Connection() = default;

Error Connection::lost(const std::string& what) const {
  return Error{"the connection to " + peer_ + " is lost: " + what};
}

Result<void> Connection::secure(std::shared_ptr<const guard::Tls> tls, Clock::time_point deadline) {
  tls_ = std::make_unique<guard::TlsStream>(std::move(tls));
  std::string ciphertext;
  while (!tls_->is_open()) {
    std::string out;
    const auto taken = tls_->receive(ciphertext, plain_, out);
    const auto sent = send_raw(out, deadline);
    if (!taken) return Error{"TLS: " + taken.error().text};
    if (!sent) return sent.error();
    if (tls_->is_open()) break;
    const auto more = receive_raw(deadline);
    if (!more)
      return Error{"TLS: the handshake did not end (" + more.error().text +
                   "); does the server speak TLS? Else leave --tls-ca out"};
    ciphertext = *more;
  }
  return {};
}

std::string Connection::binding() const {
  return tls_ ? tls_->facts().binding : "";
}

Result<void> Connection::send(std::string_view bytes, Clock::time_point deadline) {
  if (!tls_) return send_raw(bytes, deadline);
  std::string ciphertext;
  tls_->send(bytes, ciphertext);
  return send_raw(ciphertext, deadline);
}

Result<std::string_view> Connection::receive(Clock::time_point deadline) {
  if (!tls_) return receive_raw(deadline);
  for (plain_.clear(); plain_.empty();) {
    if (tls_->has_ended()) return lost("the server has closed it");
    const auto ciphertext = receive_raw(deadline);
    if (!ciphertext) return ciphertext.error();
    std::string out;
    if (const auto taken = tls_->receive(*ciphertext, plain_, out); !taken)
      return lost("TLS: " + taken.error().text);
    if (const auto sent = send_raw(out, deadline); !sent) return sent.error();
  }
  return std::string_view(plain_);
}

Result<void> Connection::send_raw(std::string_view bytes, Clock::time_point deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!poll_until(socket_.get(), POLLOUT, deadline)) return lost("it takes no more bytes");
    } else if (errno != EINTR) {
      return lost(std::strerror(errno));
    }
  }
  return {};
}

Result<std::string_view> Connection::receive_raw(Clock::time_point deadline) {
  buffer_.resize(kBufferBytes);
  for (;;) {
    const ssize_t size = ::recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
    if (size > 0) return std::string_view(buffer_.data(), static_cast<std::size_t>(size));
    if (size == 0) return lost("the server has closed it");
    if (errno == EAGAIN) {
      if (!poll_until(socket_.get(), POLLIN, deadline)) return lost("no answer in time");
    } else if (errno != EINTR) {
      return lost(std::strerror(errno));
    }
  }
}

bool Connection::readable(Clock::time_point deadline) const {
  return poll_until(socket_.get(), POLLIN, deadline);
}

}  // namespace ddprun::client
