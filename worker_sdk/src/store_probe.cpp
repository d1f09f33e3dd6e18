#include "worker_sdk/src/store_probe.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

namespace ddp::detail {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kShortestPause{20}, kLongestPause{500}, kLongConnect{3'000},
    kLongWait{10'000};

milliseconds until(Clock::time_point end) {
  return std::max(milliseconds{1}, std::chrono::duration_cast<milliseconds>(end - Clock::now()));
}

// VALIDATE with its magic number, and PING with a number that a server older than these takes for
// an impossible length, so that it closes the connection and does no harm.
constexpr std::array<unsigned char, 10> kQuestion{0,  0xCE, 0xF7, 0x85, 0x3C,
                                                  13, 0xA5, 0xA5, 0xA5, 0xA5};
constexpr std::size_t kAnswer = 4;  // the number of the PING

constexpr const char* kStranger =
    "another program listens there, which is no store: choose another port";

struct Attempt {
  bool reached = false;
  bool final = false;  // trying again is of no use
  std::string reason = {};
};

Attempt failed(int error) {
  return {.reason = std::strerror(error)};
}

class Socket {
 public:
  explicit Socket(int family)
      : fd_(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int fd() const { return fd_; }

  bool wait(short events, Clock::time_point end) const {
    pollfd wanted{fd_, events, 0};
    return poll(&wanted, 1, static_cast<int>(until(end).count())) > 0;
  }

 private:
  int fd_;
};

// 0 or an errno.
int connect_by(const Socket& socket, const addrinfo& address, Clock::time_point end) {
  if (socket.fd() < 0) return errno;
  if (connect(socket.fd(), address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!socket.wait(POLLOUT, end)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

Attempt ask(const Socket& socket, Clock::time_point end) {
  // So few bytes fit into the buffer of a new connection.
  if (send(socket.fd(), kQuestion.data(), kQuestion.size(), MSG_NOSIGNAL) < 0) return failed(errno);
  std::array<unsigned char, kAnswer> answer{};
  for (std::size_t got = 0; got < answer.size();) {
    if (!socket.wait(POLLIN, end)) return {.reason = "it accepts connections and does not answer"};
    const ssize_t count = recv(socket.fd(), answer.data() + got, answer.size() - got, 0);
    if (count < 0 && errno != EAGAIN && errno != EINTR) return failed(errno);
    if (count == 0) return {.reason = "it closes the connection without an answer"};
    if (count > 0) got += static_cast<std::size_t>(count);
  }
  if (std::equal(answer.begin(), answer.end(), kQuestion.end() - kAnswer)) return {.reached = true};
  return {.final = true, .reason = kStranger};
}

Attempt try_address(const addrinfo& address, Clock::time_point end) {
  const Socket socket(address.ai_family);
  const int error = connect_by(socket, address, std::min(end, Clock::now() + kLongConnect));
  return error == 0 ? ask(socket, end) : failed(error);
}

Attempt try_all_addresses(const std::string& host, std::uint16_t port, Clock::time_point end) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int resolved = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (resolved != 0) return {.reason = gai_strerror(resolved)};
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);
  Attempt last = failed(EADDRNOTAVAIL);
  for (const addrinfo* each = list; each; each = each->ai_next) {
    last = try_address(*each, end);
    if (last.reached) break;
  }
  return last;
}

}  // namespace

std::optional<std::string> wait_for_server(
    const std::string& host, std::uint16_t port, milliseconds timeout,
    const std::function<void(const std::string& reason)>& on_long_wait) {
  const Clock::time_point begin = Clock::now(), end = begin + timeout;
  bool told = false;
  for (milliseconds pause = kShortestPause;; pause = std::min(pause * 2, kLongestPause)) {
    const Attempt attempt = try_all_addresses(host, port, end);
    if (attempt.reached) return std::nullopt;
    if (attempt.final || Clock::now() >= end) return attempt.reason;
    if (!told && Clock::now() - begin >= kLongWait) {
      told = true;
      on_long_wait(attempt.reason);
    }
    std::this_thread::sleep_for(std::min(pause, until(end)));
  }
}

}  // namespace ddp::detail
