#include "worker_sdk/src/shared_memory/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace ddp::detail {
namespace {

using ddprun::Result;
using ddprun::UniqueFd;

ddprun::Error failed(const std::string& what) {
  return ddprun::Error{what + ": " + std::strerror(errno)};
}

}  // namespace

Result<SharedMapping> SharedMapping::map(int fd, std::size_t bytes) {
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) return failed("mmap");
  return SharedMapping(data, bytes);
}

Result<SharedMapping> SharedMapping::make(std::size_t bytes, UniqueFd& file) {
  file.reset(::memfd_create("ddp-all-reduce", MFD_CLOEXEC));
  if (!file) return failed("memfd_create");
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) return failed("ftruncate");
  return map(file.get(), bytes);
}

Result<SharedMapping> SharedMapping::open(const SharedFile& where, std::size_t bytes) {
  const std::string path = "/proc/" + std::to_string(where.pid) + "/fd/" + std::to_string(where.fd);
  const UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file) return failed(path);
  // Another file than the one meant would end this process at the first access behind its end.
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return failed(path);
  if (status.st_size != static_cast<off_t>(bytes)) {
    return ddprun::Error{path + ": expected " + std::to_string(bytes) + " bytes, found " +
                         std::to_string(status.st_size)};
  }
  return map(file.get(), bytes);
}

SharedMapping::SharedMapping(SharedMapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

SharedMapping::~SharedMapping() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

std::string sharing_place() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  struct stat pids {};
  if (!std::getline(file, boot) || ::stat("/proc/self/ns/pid", &pids) != 0) return "";
  return boot + " " + std::to_string(pids.st_ino);
}

}  // namespace ddp::detail
