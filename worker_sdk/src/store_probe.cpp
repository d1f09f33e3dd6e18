#include "worker_sdk/src/store_probe.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
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

// 0 or an errno.
int connect_once(const addrinfo& address, milliseconds limit) {
  const int fd = socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  int error = connect(fd, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd writable{fd, POLLOUT, 0};
    const int ready = poll(&writable, 1, static_cast<int>(limit.count()));
    socklen_t size = sizeof error;
    if (ready == 0) {
      error = ETIMEDOUT;
    } else if (ready < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
      error = errno;
    }
  }
  close(fd);
  return error;
}

std::optional<std::string> try_all_addresses(const std::string& host, std::uint16_t port,
                                             Clock::time_point end) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int resolved = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (resolved != 0) return std::string(gai_strerror(resolved));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);
  int error = EADDRNOTAVAIL;
  for (const addrinfo* each = list; each; each = each->ai_next) {
    error = connect_once(*each, std::min(until(end), kLongConnect));
    if (error == 0) return std::nullopt;
  }
  return std::string(std::strerror(error));
}

}  // namespace

std::optional<std::string> wait_for_server(
    const std::string& host, std::uint16_t port, milliseconds timeout,
    const std::function<void(const std::string& reason)>& on_long_wait) {
  const Clock::time_point begin = Clock::now(), end = begin + timeout;
  bool told = false;
  for (milliseconds pause = kShortestPause;; pause = std::min(pause * 2, kLongestPause)) {
    const std::optional<std::string> reason = try_all_addresses(host, port, end);
    if (!reason || Clock::now() >= end) return reason;
    if (!told && Clock::now() - begin >= kLongWait) {
      told = true;
      on_long_wait(*reason);
    }
    std::this_thread::sleep_for(std::min(pause, until(end)));
  }
}

}  // namespace ddp::detail
