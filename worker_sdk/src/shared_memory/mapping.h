// Memory that the processes of one machine share. It has no name in the file system, so that
// nothing of it stays behind however they end.
#pragma once

#include <cstddef>
#include <string>

#include "rendezvous/base/result.h"
#include "rendezvous/base/unique_fd.h"

namespace ddp::detail {

// Where another process finds it: in the files of the one that made it, as long as that keeps it
// open.
struct SharedFile {
  int pid = 0;
  int fd = -1;
};

// Mapped until the object goes.
class SharedMapping {
 public:
  // New and all zero; `file` keeps it open for the others. The error says what failed and why.
  static ddprun::Result<SharedMapping> make(std::size_t bytes, ddprun::UniqueFd& file);
  // That of another process.
  static ddprun::Result<SharedMapping> open(const SharedFile& where, std::size_t bytes);

  SharedMapping(SharedMapping&& other) noexcept;
  SharedMapping& operator=(SharedMapping&&) = delete;
  ~SharedMapping();

  void* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  SharedMapping(void* data, std::size_t size) : data_(data), size_(size) {}
  static ddprun::Result<SharedMapping> map(int fd, std::size_t bytes);

  void* data_;
  std::size_t size_;
};

// The same text in processes that can share memory: one machine since its start, one space of
// process ids. Empty where the system does not tell.
std::string sharing_place();

}  // namespace ddp::detail
