#include <algorithm>
#include <optional>

#include "worker_sdk/src/checkpoint/crc32.h"
#include "worker_sdk/src/checkpoint/little_endian.h"
#include "worker_sdk/src/checkpoint/zip.h"

namespace ddp::detail {
namespace {

constexpr std::uint64_t kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20;
constexpr std::uint64_t kDirectoryEntrySize = 46, kLocalHeaderSize = 30;
constexpr std::uint64_t kLongestComment = 65535;
// More than a million entries; a hostile file shall not fill the memory.
constexpr std::uint64_t kLargestDirectory = 128 << 20;
constexpr std::uint16_t kEncrypted = 1, kZip64Extra = 1;
constexpr std::uint32_t kIn64 = 0xffffffff;

std::uint16_t u16(std::string_view bytes, std::size_t at) {
  return little_endian<std::uint16_t>(bytes, at);
}
std::uint32_t u32(std::string_view bytes, std::size_t at) {
  return little_endian<std::uint32_t>(bytes, at);
}
std::uint64_t u64(std::string_view bytes, std::size_t at) {
  return little_endian<std::uint64_t>(bytes, at);
}

struct Directory {
  std::uint64_t offset = 0, size = 0, entries = 0;
};

// What the file is instead, where its beginning tells.
std::string other_format(ByteSource& source) {
  const std::string head =
      source.text(0, std::min<std::uint64_t>(source.size(), 16), "the beginning");
  if (head.empty()) return "it is empty";
  if (head.starts_with("\x80\x02\x8a\x0a")) {
    return "it is a pickle of the old format, of torch.save before 1.6; load and save it again";
  }
  if (head.starts_with("PK\x03\x04")) return "it is cut: the directory at its end is missing";
  if (head.size() > 8 && head[8] == '{') return "it looks like a safetensors file";
  return "it begins with " + in_quotes(head);
}

Directory read_end64(ByteSource& source, std::uint64_t end) {
  const std::string locator = source.text(end - kLocatorSize, kLocatorSize, "its directory");
  const std::uint64_t at = u64(locator, 8);
  const std::string record = source.text(at, kEnd64Size, "its directory");
  if (!record.starts_with("PK\x06\x06")) throw BadFile("its 64-bit directory is damaged");
  if (u32(record, 16) != 0 || u32(record, 20) != 0) throw BadFile("it is one part of several");
  return {.offset = u64(record, 48), .size = u64(record, 40), .entries = u64(record, 32)};
}

Directory find_directory(ByteSource& source) {
  const std::uint64_t tail_size = std::min(source.size(), kEndSize + kLongestComment);
  const std::uint64_t tail_at = source.size() - tail_size;
  const std::string tail = source.text(tail_at, tail_size, "the end");
  for (std::size_t at = tail.rfind("PK\x05\x06"); at != tail.npos;
       at = at == 0 ? tail.npos : tail.rfind("PK\x05\x06", at - 1)) {
    if (tail.size() - at < kEndSize || u16(tail, at + 20) != tail.size() - at - kEndSize) continue;
    if (u16(tail, at + 4) != 0 || u16(tail, at + 6) != 0) {
      throw BadFile("it is one part of several");
    }
    if (at >= kLocatorSize && tail.compare(at - kLocatorSize, 4, "PK\x06\x07") == 0) {
      return read_end64(source, tail_at + at);
    }
    return {
        .offset = u32(tail, at + 16), .size = u32(tail, at + 12), .entries = u16(tail, at + 10)};
  }
  throw BadFile("expected a zip file of torch.save, and " + other_format(source));
}

// Replaces those of `values` that did not fit into 32 bits, in the order that the format gives
// them.
void read_zip64_extra(std::string_view extra, const std::vector<std::uint64_t*>& values) {
  while (extra.size() >= 4) {
    const std::uint16_t id = u16(extra, 0), size = u16(extra, 2);
    if (size > extra.size() - 4) break;
    std::string_view field = extra.substr(4, size);
    extra.remove_prefix(4u + size);
    if (id != kZip64Extra) continue;
    for (std::uint64_t* value : values) {
      if (*value != kIn64) continue;
      if (field.size() < 8) throw BadFile("a 64-bit size in its directory is missing");
      *value = u64(field, 0);
      field.remove_prefix(8);
    }
    return;
  }
}

struct Listed {
  std::string name;
  ZipEntry entry;
  std::uint64_t header = 0;  // offset of the local header
  std::uint64_t stored = 0;  // bytes in the file
};

// Why the entry cannot simply be read; empty if it can.
std::string unreadable(const Listed& listed, std::string_view head) {
  const std::string what = "its entry " + in_quotes(listed.name);
  if ((u16(head, 8) & kEncrypted) != 0) return what + " is encrypted";
  if (u16(head, 10) != 0) {
    return what + " is compressed, which torch.save never does; was the file packed again?";
  }
  if (listed.stored == listed.entry.size) return "";
  return what + " has two sizes, " + std::to_string(listed.stored) + " and " +
         std::to_string(listed.entry.size);
}

// Takes one entry off the front of `directory`.
Listed next_listed(std::string_view& directory) {
  if (directory.size() < kDirectoryEntrySize || !directory.starts_with("PK\x01\x02")) {
    throw BadFile("its directory is damaged");
  }
  const std::size_t name_size = u16(directory, 28), extra_size = u16(directory, 30);
  const std::size_t all = kDirectoryEntrySize + name_size + extra_size + u16(directory, 32);
  if (directory.size() < all) throw BadFile("its directory is damaged");
  Listed listed;
  listed.name = directory.substr(kDirectoryEntrySize, name_size);
  listed.stored = u32(directory, 20);
  listed.entry.size = u32(directory, 24);
  listed.entry.crc = u32(directory, 16);
  listed.header = u32(directory, 42);
  read_zip64_extra(directory.substr(kDirectoryEntrySize + name_size, extra_size),
                   {&listed.entry.size, &listed.stored, &listed.header});
  listed.entry.unreadable = unreadable(listed, directory);
  directory.remove_prefix(all);
  return listed;
}

// The local header says where the entry itself begins.
void locate(ByteSource& source, Listed& listed, std::uint64_t end) {
  const std::string what = "its entry " + in_quotes(listed.name);
  if (listed.header > end || end - listed.header < kLocalHeaderSize) {
    throw BadFile(what + " lies outside the file");
  }
  const std::string head = source.text(listed.header, kLocalHeaderSize, what);
  const std::uint64_t name_size = u16(head, 26), extra_size = u16(head, 28);
  if (!head.starts_with("PK\x03\x04")) throw BadFile(what + " has no header where it should be");
  listed.entry.offset = listed.header + kLocalHeaderSize + name_size + extra_size;
  if (listed.entry.offset > end || listed.stored > end - listed.entry.offset) {
    throw BadFile(what + " reaches beyond the end: " + std::to_string(listed.stored) +
                  " bytes from byte " + std::to_string(listed.entry.offset) + " on, of a file of " +
                  std::to_string(source.size()));
  }
  if (source.text(listed.header + kLocalHeaderSize, name_size, what) != listed.name) {
    throw BadFile(what + " has another name in its header");
  }
}

void refuse_overlaps(std::vector<Listed>& all) {
  std::sort(all.begin(), all.end(),
            [](const Listed& a, const Listed& b) { return a.header < b.header; });
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].header < all[i - 1].entry.offset + all[i - 1].stored) {
      throw BadFile("its entries " + in_quotes(all[i - 1].name) + " and " + in_quotes(all[i].name) +
                    " overlap");
    }
  }
}

}  // namespace

ZipReader::ZipReader(ByteSource& source) : source_(source) {
  const Directory found = find_directory(source);
  if (found.size > kLargestDirectory) throw BadFile("its directory is too large");
  const std::string bytes = source.text(found.offset, found.size, "its directory");
  std::vector<Listed> all;
  for (std::string_view rest = bytes; !rest.empty();) all.push_back(next_listed(rest));
  if (all.size() != found.entries) {
    throw BadFile("its directory is damaged: it announces " + std::to_string(found.entries) +
                  " entries and has " + std::to_string(all.size()));
  }
  for (Listed& listed : all) locate(source, listed, found.offset);
  refuse_overlaps(all);
  for (Listed& listed : all) {
    if (!entries_.emplace(listed.name, listed.entry).second) {
      throw BadFile("it has two entries " + in_quotes(listed.name));
    }
  }
}

const ZipEntry* ZipReader::find(const std::string& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

void ZipReader::check_readable(const ZipEntry& entry) {
  if (!entry.unreadable.empty()) throw BadFile(entry.unreadable);
}

std::string ZipReader::read(const std::string& name, std::uint64_t limit) const {
  const ZipEntry* entry = find(name);
  if (entry == nullptr) throw BadFile("its entry " + in_quotes(name) + " is missing");
  check_readable(*entry);
  if (entry->size > limit) {
    throw BadFile("its entry " + in_quotes(name) + " has " + std::to_string(entry->size) +
                  " bytes, expected at most " + std::to_string(limit));
  }
  std::string bytes(entry->size, '\0');
  read_into(name, *entry, bytes.data());
  return bytes;
}

void ZipReader::read_into(const std::string& name, const ZipEntry& entry, void* to) const {
  check_readable(entry);
  source_.read(entry.offset, to, entry.size);
  if (entry.crc == 0 || crc32(0, to, entry.size) == entry.crc) return;
  throw BadFile("its entry " + in_quotes(name) + " is damaged: the check sum does not agree");
}

}  // namespace ddp::detail
