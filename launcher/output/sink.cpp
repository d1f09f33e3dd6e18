#include "launcher/output/sink.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

namespace ddprun::output {
namespace {

// POLLOUT promises room for PIPE_BUF bytes in a pipe; a terminal only promises some room, and a
// write of more than that would block.
constexpr std::size_t kSharedPipeWrite = 4096;
constexpr std::size_t kSharedTerminalWrite = 256;

template <class Call>
ssize_t result_of(Call call) {
  ssize_t n = 0;
  do {
    n = call();
  } while (n < 0 && errno == EINTR);
  if (n >= 0) return n;
  return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -errno;
}

}  // namespace

Sink::Sink(int fd, bool may_reopen) : fd_(fd), terminal_(::isatty(fd) == 1) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  if (S_ISSOCK(status.st_mode)) {
    kind_ = Kind::socket;
  } else if (S_ISFIFO(status.st_mode) || terminal_) {
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    if (may_reopen) own_.reset(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    kind_ = own_ ? Kind::reopened : Kind::shared;
  } else {
    kind_ = Kind::file;
  }
}

bool Sink::same_file(const Sink& other) const {
  return kind_ != Kind::closed && other.kind_ != Kind::closed && device_ == other.device_ &&
         inode_ == other.inode_;
}

ssize_t Sink::write(std::string_view bytes) const {
  switch (kind_) {
    case Kind::closed:
      return static_cast<ssize_t>(bytes.size());
    case Kind::file:
      return result_of([&] { return ::write(fd_, bytes.data(), bytes.size()); });
    case Kind::reopened:
      return result_of([&] { return ::write(own_.get(), bytes.data(), bytes.size()); });
    case Kind::socket:
      return result_of(
          [&] { return ::send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL); });
    case Kind::shared:
      return write_shared(bytes);
  }
  return -EBADF;
}

ssize_t Sink::write_shared(std::string_view bytes) const {
  pollfd ready{fd_, POLLOUT, 0};
  if (::poll(&ready, 1, 0) <= 0) return 0;
  const std::size_t most = terminal_ ? kSharedTerminalWrite : kSharedPipeWrite;
  return result_of([&] { return ::write(fd_, bytes.data(), std::min(bytes.size(), most)); });
}

// Asio makes every descriptor it waits on non-blocking, which must not happen to a shared one. An
// epoll instance of our own that watches the shared descriptor becomes readable when that becomes
// writable.
UniqueFd Sink::make_waiter() const {
  if (kind_ == Kind::reopened) return UniqueFd(::fcntl(own_.get(), F_DUPFD_CLOEXEC, 0));
  if (kind_ != Kind::socket && kind_ != Kind::shared) return {};
  UniqueFd watcher(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{};
  event.events = EPOLLOUT;
  if (!watcher || ::epoll_ctl(watcher.get(), EPOLL_CTL_ADD, fd_, &event) != 0) return {};
  return watcher;
}

}  // namespace ddprun::output
