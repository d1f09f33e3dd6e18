#include "launcher/output/channel.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace ddprun::output {
namespace {

Error failure(const char* what) {
  std::string advice;
  if (errno == EMFILE || errno == ENFILE) advice = "; raise the limit of open files (ulimit -n)";
  return Error{std::string("cannot make a ") + what +
               " for a worker's output: " + std::strerror(errno) + advice};
}

Result<Channel> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failure("pipe");
  Channel channel{UniqueFd(ends[0]), UniqueFd(ends[1])};
  // Only our end: the worker expects a pipe that blocks.
  if (::fcntl(channel.read_end.get(), F_SETFL, O_NONBLOCK) != 0) return failure("pipe");
  return channel;
}

// Narrower than this nobody draws anything.
constexpr int kLeastColumns = 20;

bool make_raw(int slave, int like, int reserved_columns) {
  termios settings{};
  if (::tcgetattr(slave, &settings) != 0) return false;
  ::cfmakeraw(&settings);
  if (::tcsetattr(slave, TCSANOW, &settings) != 0) return false;
  winsize size{};
  if (::ioctl(like, TIOCGWINSZ, &size) != 0) return true;
  if (size.ws_col >= kLeastColumns + reserved_columns)
    size.ws_col = static_cast<unsigned short>(size.ws_col - reserved_columns);
  ::ioctl(slave, TIOCSWINSZ, &size);
  return true;
}

Result<Channel> make_pty(int like, int reserved_columns) {
  constexpr const char* kWhat = "pseudo-terminal";
  UniqueFd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!master || ::grantpt(master.get()) != 0 || ::unlockpt(master.get()) != 0)
    return failure(kWhat);
  char name[128];
  if (const int error = ::ptsname_r(master.get(), name, sizeof name); error != 0) {
    errno = error;
    return failure(kWhat);
  }
  UniqueFd slave(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!slave || !make_raw(slave.get(), like, reserved_columns)) return failure(kWhat);
  return Channel{std::move(master), std::move(slave)};
}

}  // namespace

Result<Channel> make_channel(ChannelKind kind, int like, int reserved_columns) {
  return kind == ChannelKind::pty ? make_pty(like, reserved_columns) : make_pipe();
}

int terminal_width(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace ddprun::output
