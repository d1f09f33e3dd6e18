#include "worker_sdk/src/checkpoint/archive.h"

#include <cinttypes>
#include <cstdio>

#include "worker_sdk/src/checkpoint/crc32.h"

namespace ddp::detail {
namespace {

constexpr std::uint64_t kLargestPickle = 256 << 20;
constexpr const char* kPickle = "/data.pkl";

// The one folder that holds a pickle.
std::string find_folder(const ZipReader& zip) {
  for (const auto& [name, entry] : zip.entries()) {
    const auto slash = name.find('/');
    if (slash != name.npos && name.substr(slash) == kPickle) return name.substr(0, slash);
  }
  throw BadFile("expected a zip file of torch.save, and it has no data.pkl");
}

std::uint64_t expected_size(const StorageRef& storage) {
  std::uint64_t bytes = storage.count;
  if (storage.type && __builtin_mul_overflow(bytes, info(*storage.type).size, &bytes)) {
    throw BadFile("its storage " + in_quotes(storage.key) + " is too large for any memory");
  }
  return bytes;
}

// What 2.11 writes there, 40 digits, is a hash of names and check sums; nothing reads it back.
std::string serialization_id(std::uint32_t pickle, std::uint32_t storages) {
  char digits[48];
  std::snprintf(digits, sizeof digits, "%020" PRIu64 "%020" PRIu64, std::uint64_t{pickle},
                std::uint64_t{storages});
  return digits;
}

}  // namespace

ArchiveReader::ArchiveReader(ByteSource& source) : zip_(source), folder_(find_folder(zip_)) {
  check_format();
  graph_ = read_pickle(zip_.read(folder_ + kPickle, kLargestPickle));
  check_storages();
}

void ArchiveReader::check_format() {
  if (zip_.find(folder_ + "/constants.pkl") != nullptr) {
    throw BadFile(
        "it is a TorchScript archive, of torch::save or torch.jit.save; expected a zip file of "
        "torch.save or ddp::save");
  }
  const std::string order = folder_ + "/byteorder";
  if (zip_.find(order) != nullptr && zip_.read(order, 64) != "little") {
    throw BadFile("its numbers are " + in_quotes(zip_.read(order, 64)) +
                  "-endian, expected 'little'; load and save it with PyTorch");
  }
}

void ArchiveReader::check_storages() const {
  for (const Node& node : graph_.nodes) {
    if (const auto* storage = std::get_if<StorageRef>(&node)) storage_size(*storage);
  }
}

std::uint64_t ArchiveReader::storage_size(const StorageRef& storage) const {
  const std::string name = folder_ + "/data/" + storage.key;
  const ZipEntry* entry = zip_.find(name);
  const std::uint64_t expected = expected_size(storage);
  if (entry == nullptr) throw BadFile("its entry " + in_quotes(name) + ", a storage, is missing");
  ZipReader::check_readable(*entry);
  if (entry->size == expected) return expected;
  throw BadFile("its entry " + in_quotes(name) + ", a storage, has " + std::to_string(entry->size) +
                " bytes, expected " + std::to_string(expected));
}

void ArchiveReader::read_storage(const StorageRef& storage, void* to) const {
  const std::string name = folder_ + "/data/" + storage.key;
  zip_.read_into(name, *zip_.find(name), to);
}

void write_archive(ByteSink& sink, const PickleGraph& graph, std::size_t count,
                   const std::function<StorageBytes(std::size_t)>& storage) {
  const std::string folder = "archive";  // as torch.save names it when it has no path
  ZipWriter zip(sink);
  const std::uint32_t pickle = zip.add(folder + kPickle, write_pickle(graph));
  zip.add(folder + "/.format_version", "1");
  zip.add(folder + "/.storage_alignment", "64");
  zip.add(folder + "/byteorder", "little");
  std::uint32_t sums = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const StorageBytes bytes = storage(i);
    const std::uint32_t sum =
        zip.add(folder + "/data/" + std::to_string(i), bytes.data, bytes.size);
    sums = crc32(sums, &sum, sizeof sum);
  }
  zip.add(folder + "/version", "3\n");
  zip.add(folder + "/.data/serialization_id", serialization_id(pickle, sums));
  zip.finish();
}

}  // namespace ddp::detail
