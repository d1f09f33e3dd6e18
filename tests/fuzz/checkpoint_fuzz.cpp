// Any bytes as a checkpoint of torch.save, as the pickle in it, and as a safetensors file: they are
// read or refused, and what is read can be written and read again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "worker_sdk/src/checkpoint/archive.h"
#include "worker_sdk/src/checkpoint/safetensors.h"

namespace {

using namespace ddp::detail;

// Small, so that each input takes little time.
constexpr PickleLimits kLimits{.values = 20'000, .depth = 64};

void check_again(const PickleGraph& graph) {
  std::string pickle;
  try {
    pickle = write_pickle(graph);
  } catch (const BadFile&) {
    return;  // a text that is not UTF-8
  }
  if (write_pickle(read_pickle(pickle)) != pickle) std::abort();
}

void read_archive(std::string_view bytes) {
  MemorySource source(bytes);
  const ArchiveReader archive(source);
  for (const Node& node : archive.graph().nodes) {
    const auto* storage = std::get_if<StorageRef>(&node);
    if (storage == nullptr) continue;
    std::string data(archive.storage_size(*storage), '\0');
    if (data.size() > bytes.size()) std::abort();
    archive.read_storage(*storage, data.data());
  }
  check_again(archive.graph());
}

void read_safetensors(std::string_view bytes) {
  MemorySource source(bytes);
  SafetensorsHeader header = read_safetensors_header(source);
  for (const SafeTensor& tensor : header.tensors) {
    if (header.data + tensor.end > bytes.size()) std::abort();
  }
  const std::string head = write_safetensors_header(header.tensors, header.metadata);
  const std::string again = head + std::string(bytes.substr(header.data));
  MemorySource written(again);
  if (read_safetensors_header(written).tensors.size() != header.tensors.size()) std::abort();
}

template <class Read>
void allow_refusal(Read&& read) {
  try {
    read();
  } catch (const BadFile&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  allow_refusal([&] { read_archive(bytes); });
  allow_refusal([&] { check_again(read_pickle(bytes, kLimits)); });
  allow_refusal([&] { read_safetensors(bytes); });
  return 0;
}
