#include "worker_sdk/src/checkpoint/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <system_error>

namespace ddp::detail {
namespace {

constexpr std::size_t kBuffer = 1 << 16;
// Linux moves at most 2 GiB at once.
constexpr std::size_t kAtOnce = 1 << 30;

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

void write_all(int fd, const char* data, std::size_t count, const std::string& path) {
  while (count > 0) {
    const ssize_t done = ::write(fd, data, std::min(count, kAtOnce));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(errno, path + " cannot be written");
    data += done;
    count -= static_cast<std::size_t>(done);
  }
}

// "folder/name.tmp.PID.0"; of a name so long that this would not be one, the beginning.
std::string name_beside(const std::string& path, int attempt) {
  const std::string end = ".tmp." + std::to_string(::getpid()) + "." + std::to_string(attempt);
  const auto name = path.find_last_of('/') + 1;  // 0 without a folder
  const std::size_t longest = NAME_MAX - end.size();
  return path.substr(0, name) + path.substr(name, longest) + end;
}

// Two programs, or two threads of one, may save to the same path.
int create_beside(const std::string& path, std::string& beside) {
  for (int attempt = 0;; ++attempt) {
    beside = name_beside(path, attempt);
    const int fd = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) return fd;
    if (errno != EEXIST || attempt > 1000) fail(errno, path + " cannot be written");
  }
}

// The link stays, and what it points to is replaced; that need not be there yet.
std::string follow_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // as in Linux
  std::filesystem::path target = path;
  for (int links = 0; std::filesystem::is_symlink(target); ++links) {
    if (links == kMostLinks) fail(ELOOP, path + " cannot be written");
    target = target.parent_path() / std::filesystem::read_symlink(target);
  }
  return target.string();
}

// Without it the new name might not survive a power failure. Some file systems cannot do it.
void sync_folder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(follow_links(path)) {
  struct stat there {};
  const bool replaces = ::stat(path_.c_str(), &there) == 0;
  // Renaming over a device or a pipe would remove it.
  if (replaces && !S_ISREG(there.st_mode)) {
    fail(S_ISDIR(there.st_mode) ? EISDIR : EINVAL,
         path + " cannot be written: it is no plain file");
  }
  fd_ = create_beside(path_, beside_);
  // Who could not read the old file must not read the new one; some file systems have no modes.
  if (replaces) (void)!::fchmod(fd_, there.st_mode & 07777);
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(beside_.c_str());
}

void AtomicFile::write(const void* data, std::size_t count) {
  if (buffer_.size() + count > kBuffer) flush();
  if (count >= kBuffer) return write_all(fd_, static_cast<const char*>(data), count, path_);
  buffer_.append(static_cast<const char*>(data), count);
}

void AtomicFile::flush() {
  write_all(fd_, buffer_.data(), buffer_.size(), path_);
  buffer_.clear();
}

void AtomicFile::commit() {
  flush();
  if (::fsync(fd_) != 0) fail(errno, path_ + " cannot be written");
  if (::rename(beside_.c_str(), path_.c_str()) != 0) fail(errno, path_ + " cannot be replaced");
  ::close(fd_);
  fd_ = -1;
  sync_folder(path_);
}

FileSource::FileSource(const std::string& path) {
  // Not blocked by a pipe that nobody writes to.
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) fail(errno, path + " cannot be read");
  struct stat found {};
  if (::fstat(fd_, &found) == 0 && S_ISREG(found.st_mode)) {
    size_ = static_cast<std::uint64_t>(found.st_size);
    return;
  }
  ::close(fd_);
  throw BadFile("it is no plain file");
}

FileSource::~FileSource() {
  ::close(fd_);
}

void FileSource::read(std::uint64_t offset, void* to, std::size_t count) {
  auto* at = static_cast<char*>(to);
  while (count > 0) {
    const ssize_t got = ::pread(fd_, at, std::min(count, kAtOnce), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw BadFile("it cannot be read: " + std::generic_category().message(errno));
    if (got == 0) throw BadFile("it became shorter while it was read");
    at += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
}

}  // namespace ddp::detail
