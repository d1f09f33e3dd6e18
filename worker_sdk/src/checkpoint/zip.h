// The zip files of torch.save: entries that are stored, not compressed, so that each tensor lies in
// the file as it lies in memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "worker_sdk/src/checkpoint/byte_source.h"

namespace ddp::detail {

struct ZipEntry {
  std::uint64_t offset = 0;  // of its first byte in the file
  std::uint64_t size = 0;    // bytes
  std::uint32_t crc = 0;     // 0: the writer did not compute it, as torch.save may be told
  std::string unreadable;    // why it is not simply stored; empty if it is
};

// Reads the directory, nothing else, and keeps the reference to `source`.
//
// Throws BadFile for what is no zip file, is cut, or has entries of the same name, overlapping, or
// outside the file; reading an entry that is compressed or encrypted throws as well.
class ZipReader {
 public:
  explicit ZipReader(ByteSource& source);

  const std::map<std::string, ZipEntry>& entries() const { return entries_; }
  // Null if there is none.
  const ZipEntry* find(const std::string& name) const;

  // Throws BadFile if the entry is not simply stored.
  static void check_readable(const ZipEntry& entry);
  // The whole entry, at most `limit` bytes. Throws BadFile if it is larger or its check sum wrong.
  std::string read(const std::string& name, std::uint64_t limit) const;
  // The same into memory of the entry's size.
  void read_into(const std::string& name, const ZipEntry& entry, void* to) const;

 private:
  ByteSource& source_;
  std::map<std::string, ZipEntry> entries_;
};

// Writes entries one after the other, each aligned to 64 bytes as torch.save does, so that the file
// can be mapped into memory.
class ZipWriter {
 public:
  // Sizes and offsets from `zip64_from` on are written in the 64-bit form; other values than the
  // format's limit are for tests.
  explicit ZipWriter(ByteSink& sink, std::uint64_t zip64_from = 0xffffffff);

  // Returns the check sum.
  std::uint32_t add(const std::string& name, const void* data, std::uint64_t size);
  std::uint32_t add(const std::string& name, std::string_view text) {
    return add(name, text.data(), text.size());
  }
  // Writes the directory. Nothing may follow.
  void finish();

 private:
  void put(std::string_view bytes);
  std::string directory_entry(const std::string& name, const ZipEntry& entry,
                              std::uint64_t header) const;

  ByteSink& sink_;
  std::uint64_t zip64_from_;
  std::uint64_t position_ = 0;
  std::uint64_t count_ = 0;
  std::string directory_;
};

}  // namespace ddp::detail
