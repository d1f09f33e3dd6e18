// Where the bytes of a checkpoint come from and go to: a file, or memory in tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "worker_sdk/src/checkpoint/bad_file.h"

namespace ddp::detail {

// Bytes of a known number, readable at any place.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::uint64_t size() const = 0;
  // Fills `count` bytes from `offset` on, which lie within size(). Throws BadFile if they cannot be
  // read.
  virtual void read(std::uint64_t offset, void* to, std::size_t count) = 0;

  // The same, as text, with the check that they lie within size(); `what` is named if they do not.
  std::string text(std::uint64_t offset, std::uint64_t count, const std::string& what) {
    if (offset > size() || count > size() - offset) {
      throw BadFile("it is cut: " + what + " ends at byte " + std::to_string(offset + count) +
                    ", the file at " + std::to_string(size()));
    }
    std::string bytes(count, '\0');
    read(offset, bytes.data(), bytes.size());
    return bytes;
  }
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, void* to, std::size_t count) override {
    if (count > 0) std::memcpy(to, bytes_.data() + offset, count);
  }

 private:
  std::string_view bytes_;
};

// Takes bytes one after the other.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // Throws what the sink throws when it is full.
  virtual void write(const void* data, std::size_t count) = 0;
  void write(std::string_view text) { write(text.data(), text.size()); }
};

class MemorySink final : public ByteSink {
 public:
  using ByteSink::write;
  void write(const void* data, std::size_t count) override {
    bytes_.append(static_cast<const char*>(data), count);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace ddp::detail
