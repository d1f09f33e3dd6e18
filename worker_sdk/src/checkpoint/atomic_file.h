// Files that are there completely or not at all.
#pragma once

#include <cstdint>
#include <string>

#include "worker_sdk/src/checkpoint/byte_source.h"

namespace ddp::detail {

// A new version of the file at `path`, written beside it. Until commit() the old one stays; without
// commit() nothing stays of the new one. It has the mode of the one that it replaces. Errors are
// std::system_error, which names the file.
class AtomicFile final : public ByteSink {
 public:
  // Throws if the folder is missing or may not be written, or `path` is there and no plain file.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile() override;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  using ByteSink::write;
  void write(const void* data, std::size_t count) override;

  // Puts the file in the old one's place once it is safely on the disk.
  void commit();

 private:
  void flush();

  std::string path_;    // with links followed
  std::string beside_;  // where it is written
  std::string buffer_;  // small pieces, not yet written
  int fd_ = -1;
};

// A file to read.
class FileSource final : public ByteSource {
 public:
  // Throws std::system_error if it cannot be opened, BadFile if it is no plain file.
  explicit FileSource(const std::string& path);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, void* to, std::size_t count) override;

 private:
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace ddp::detail
