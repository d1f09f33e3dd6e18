#include "worker_sdk/src/checkpoint/crc32.h"
#include "worker_sdk/src/checkpoint/little_endian.h"
#include "worker_sdk/src/checkpoint/zip.h"

namespace ddp::detail {
namespace {

constexpr std::uint64_t kAlignment = 64;
// Versions of the format that a reader has to know: plain entries, and 64-bit sizes.
constexpr std::uint16_t kPlain = 20, kWith64 = 45;
constexpr std::uint16_t kUtf8Names = 1 << 11;

std::string u16(std::uint64_t number) {
  return to_little_endian(static_cast<std::uint16_t>(number));
}
std::string u32(std::uint64_t number) {
  return to_little_endian(static_cast<std::uint32_t>(number));
}
std::string u64(std::uint64_t number) {
  return to_little_endian(number);
}

// Time and date: 1 January 1980, so that the same contents give the same file.
const std::string kNoTime = u16(0) + u16(0x21);

}  // namespace

ZipWriter::ZipWriter(ByteSink& sink, std::uint64_t zip64_from)
    : sink_(sink), zip64_from_(zip64_from) {}

void ZipWriter::put(std::string_view bytes) {
  sink_.write(bytes);
  position_ += bytes.size();
}

std::uint32_t ZipWriter::add(const std::string& name, const void* data, std::uint64_t size) {
  const bool large = size >= zip64_from_;
  const std::uint64_t header = position_;
  ZipEntry entry{.size = size, .crc = crc32(0, data, size)};
  std::string extra;
  if (large) extra = u16(1) + u16(16) + u64(size) + u64(size);
  // The field "FB" is PyTorch's padding: four bytes of head, then as many as it takes.
  const std::uint64_t unpadded = header + 30 + name.size() + extra.size() + 4;
  const std::uint64_t padding = (kAlignment - unpadded % kAlignment) % kAlignment;
  extra += "FB" + u16(padding) + std::string(padding, 'Z');
  const std::string sizes = large ? u32(0xffffffff) + u32(0xffffffff) : u32(size) + u32(size);
  put("PK\x03\x04" + u16(large ? kWith64 : kPlain) + u16(kUtf8Names) + u16(0) + kNoTime +
      u32(entry.crc) + sizes + u16(name.size()) + u16(extra.size()) + name + extra);
  sink_.write(data, size);
  position_ += size;
  directory_ += directory_entry(name, entry, header);
  ++count_;
  return entry.crc;
}

std::string ZipWriter::directory_entry(const std::string& name, const ZipEntry& entry,
                                       std::uint64_t header) const {
  std::string large;
  if (entry.size >= zip64_from_) large += u64(entry.size) + u64(entry.size);
  if (header >= zip64_from_) large += u64(header);
  const std::string extra = large.empty() ? "" : u16(1) + u16(large.size()) + large;
  const std::uint16_t version = large.empty() ? kPlain : kWith64;
  const std::string size = u32(entry.size >= zip64_from_ ? 0xffffffff : entry.size);
  return "PK\x01\x02" + u16(version) + u16(version) + u16(kUtf8Names) + u16(0) + kNoTime +
         u32(entry.crc) + size + size + u16(name.size()) + u16(extra.size()) + u16(0) + u16(0) +
         u16(0) + u32(0) + u32(header >= zip64_from_ ? 0xffffffff : header) + name + extra;
}

void ZipWriter::finish() {
  const std::uint64_t start = position_, size = directory_.size();
  put(directory_);
  const bool large = start >= zip64_from_ || size >= zip64_from_ || count_ >= 0xffff;
  if (large) {
    const std::uint64_t at = position_;
    put("PK\x06\x06" + u64(44) + u16(kWith64) + u16(kWith64) + u32(0) + u32(0) + u64(count_) +
        u64(count_) + u64(size) + u64(start));
    put("PK\x06\x07" + u32(0) + u64(at) + u32(1));
  }
  const std::uint64_t count = large ? 0xffff : count_;
  put("PK\x05\x06" + u16(0) + u16(0) + u16(count) + u16(count) + u32(large ? 0xffffffff : size) +
      u32(large ? 0xffffffff : start) + u16(0));
}

}  // namespace ddp::detail
