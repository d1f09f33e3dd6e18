#include "ddp/progress.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "worker_sdk/src/broken_pipe.h"

namespace ddp {
namespace {

constexpr int kNobody = -1;

// A child inherits the variable but not the descriptor, whose number may then be any file's: only
// the writing end of a pipe is used.
bool is_pipe_to_write(int fd) {
  struct stat what {};
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) == O_WRONLY && ::fstat(fd, &what) == 0 &&
         S_ISFIFO(what.st_mode) && ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

int find_listener() {
  const char* text = std::getenv("DDPRUN_PROGRESS_FD");
  if (text == nullptr) return kNobody;
  char* end = nullptr;
  errno = 0;
  const long fd = std::strtol(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || fd < 3 || fd > 1'000'000) return kNobody;
  if (!is_pipe_to_write(static_cast<int>(fd))) return kNobody;
  ::fcntl(static_cast<int>(fd), F_SETFD, FD_CLOEXEC);
  detail::ignore_broken_pipes();
  return static_cast<int>(fd);
}

std::atomic<int>& listener() {
  static std::atomic<int> fd{find_listener()};
  return fd;
}

}  // namespace

void progress(std::int64_t step) {
  const int fd = listener().load(std::memory_order_relaxed);
  if (fd == kNobody) return;
  std::array<char, 24> line;
  char* end = std::to_chars(line.begin(), line.end() - 1, step).ptr;
  *end++ = '\n';
  const int before = errno;
  // A full pipe tells the launcher as much as one more line would.
  const auto size = static_cast<std::size_t>(end - line.data());
  if (::write(fd, line.data(), size) < 0 && errno != EAGAIN && errno != EINTR) {
    listener().store(kNobody, std::memory_order_relaxed);
  }
  errno = before;
}

}  // namespace ddp
