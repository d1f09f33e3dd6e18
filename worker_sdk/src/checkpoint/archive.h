// The parts of a checkpoint of torch.save put together: a zip file with the pickle, the bytes of
// each storage, and some words about the format.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "worker_sdk/src/checkpoint/pickle.h"
#include "worker_sdk/src/checkpoint/zip.h"

namespace ddp::detail {

// Reads the directory and the pickle; storages only when they are asked for. Keeps the reference.
class ArchiveReader {
 public:
  // Throws BadFile for a file of another kind, and if a storage that a tensor below the root uses
  // is missing or has another size than it should.
  explicit ArchiveReader(ByteSource& source);

  const PickleGraph& graph() const { return graph_; }

  // Bytes of the storage, which are there.
  std::uint64_t storage_size(const StorageRef& storage) const;
  void read_storage(const StorageRef& storage, void* to) const;

 private:
  void check_format();
  void check_storages() const;

  ZipReader zip_;
  std::string folder_;  // all entries lie in it
  PickleGraph graph_;
};

// Bytes on the CPU, for a storage with the key of its index.
struct StorageBytes {
  const void* data = nullptr;
  std::uint64_t size = 0;
};

// Writes the file that torch.load reads. `storage` is called for each index below `count`, in
// order, and what it returns is used before the next call.
void write_archive(ByteSink& sink, const PickleGraph& graph, std::size_t count,
                   const std::function<StorageBytes(std::size_t)>& storage);

}  // namespace ddp::detail
