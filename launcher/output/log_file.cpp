#include "launcher/output/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ddprun::output {

Result<LogFile> LogFile::create(const std::string& path) {
  UniqueFd fd(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return Error{"cannot make the log file '" + path + "': " + std::strerror(errno)};
  return LogFile(path, std::move(fd));
}

int LogFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    size_ += static_cast<std::uint64_t>(n);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

std::size_t LogFile::read_at(std::uint64_t offset, std::span<char> into) const {
  std::size_t got = 0;
  while (got < into.size()) {
    const ssize_t n =
        ::pread(fd_.get(), into.data() + got, into.size() - got, static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  return got;
}

std::string LogFile::end(std::size_t most) const {
  struct stat info {};
  if (::fstat(fd_.get(), &info) != 0 || info.st_size <= 0) return {};
  const auto size = static_cast<std::uint64_t>(info.st_size);
  std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(size, most)), '\0');
  text.resize(read_at(size - text.size(), text));
  return text;
}

bool LogFile::removed() const {
  struct stat info {};
  return ::fstat(fd_.get(), &info) == 0 && info.st_nlink == 0;
}

}  // namespace ddprun::output
