// A file that holds the exact bytes of one stream of a worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "rendezvous/base/result.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::output {

// Either a worker writes it (its descriptor is a copy of fd()) or we do, through write(). It stays
// open for reading, so its end can be shown even if somebody has removed it.
class LogFile {
 public:
  // Makes `path` with mode 0600; what stood in it goes. Bytes are always added at the end, so that
  // emptying the file while the job runs (`: > stdout.log`) frees its room.
  static Result<LogFile> create(const std::string& path);

  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }

  // 0, or the errno that kept the rest of `bytes` from being written. Blocks while the file system
  // does.
  int write(std::string_view bytes);
  // Bytes that write() has put there.
  std::uint64_t size() const { return size_; }
  // Reads from `offset` on; the number of bytes, less than asked for where the file ends.
  std::size_t read_at(std::uint64_t offset, std::span<char> into) const;
  // The last bytes, at most `most`, whoever wrote them.
  std::string end(std::size_t most) const;
  // True when the file has no name any more.
  bool removed() const;

 private:
  LogFile(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  UniqueFd fd_;
  std::uint64_t size_ = 0;
};

}  // namespace ddprun::output
