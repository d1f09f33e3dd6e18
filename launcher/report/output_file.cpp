#include "launcher/report/output_file.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "launcher/report/printable.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::report {
namespace {

constexpr int kPatienceMs = 2000;

// Where the text goes: the name that can be renamed onto, or a thing that is written to in place.
struct Place {
  std::string path;
  bool in_place = false;
};

std::string resolved(const std::string& path) {
  char* const real = ::realpath(path.c_str(), nullptr);
  std::string result = real != nullptr ? real : path;
  ::free(real);
  return result;
}

Place place_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {path, /*in_place=*/false};
  // A file behind /dev/stdout or /dev/fd/3 is open elsewhere, and must stay the same file.
  const bool descriptor = path.starts_with("/dev/") || path.starts_with("/proc/");
  if (descriptor || !S_ISREG(info.st_mode)) return {path, /*in_place=*/true};
  return {resolved(path), /*in_place=*/false};
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, slash + 1);
}

int open_in_place(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

// 0, or an errno.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {
      pollfd writable{fd, POLLOUT, 0};
      if (::poll(&writable, 1, kPatienceMs) == 0) return ETIMEDOUT;
      continue;
    }
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

int write_in_place(const std::string& path, std::string_view text) {
  ::signal(SIGPIPE, SIG_IGN);
  const UniqueFd file(open_in_place(path));
  return file ? write_all(file.get(), text) : errno;
}

// mkstemp makes files that only their owner may read; the umask is what the user wants.
void take_umask(int fd) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(fd, 0666 & ~mask);
}

int write_beside(const std::string& path, std::string_view text) {
  std::string beside = path + ".XXXXXX";
  const UniqueFd file(::mkostemp(beside.data(), O_CLOEXEC));
  if (!file) return errno;
  take_umask(file.get());
  int error = write_all(file.get(), text);
  if (error == 0 && ::rename(beside.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) ::unlink(beside.c_str());
  return error;
}

}  // namespace

std::string cannot_write(std::string_view option, const std::string& path, int error) {
  std::string why = error == ENXIO ? "nobody reads this pipe" : std::strerror(error);
  why[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(why[0])));
  return std::string(option) + ": cannot write '" + printable(path) + "': " + why;
}

Result<void> check_replaceable(std::string_view option, const std::string& path) {
  const Place place = place_of(path);
  struct stat info {};
  if (::stat(place.path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return Error{cannot_write(option, path, EISDIR)};
  // A named pipe may get its reader later.
  const std::string target = place.in_place ? place.path : folder_of(place.path);
  if (::access(target.c_str(), W_OK) != 0) return Error{cannot_write(option, path, errno)};
  return {};
}

Result<void> check_appendable(std::string_view option, const std::string& path) {
  struct stat info {};
  const bool there = ::stat(path.c_str(), &info) == 0;
  if (there && S_ISDIR(info.st_mode)) return Error{cannot_write(option, path, EISDIR)};
  const std::string target = there ? path : folder_of(path);
  if (::access(target.c_str(), W_OK) != 0) return Error{cannot_write(option, path, errno)};
  return {};
}

Result<void> replace_file(std::string_view option, const std::string& path, std::string_view text) {
  const Place place = place_of(path);
  const int error =
      place.in_place ? write_in_place(place.path, text) : write_beside(place.path, text);
  if (error != 0) return Error{cannot_write(option, path, error)};
  return {};
}

}  // namespace ddprun::report
