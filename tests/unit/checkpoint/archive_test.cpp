#include "worker_sdk/src/checkpoint/archive.h"

#include <gmock/gmock.h>

#include <array>

#include "tests/unit/checkpoint/error_of.h"

namespace ddp::detail::test {
namespace {

using testing::HasSubstr;

constexpr std::array<float, 6> kNumbers{1, 2, 3, 4, 5, 6};

PickleGraph one_tensor() {
  PickleGraph graph;
  const NodeId storage = graph.add(
      StorageRef{.key = "0", .location = "cpu", .type = DType::Float32, .count = kNumbers.size()});
  graph.root = graph.add(TensorRef{.storage = storage, .sizes = {6}, .strides = {1}});
  return graph;
}

std::string archive() {
  MemorySink sink;
  write_archive(sink, one_tensor(), 1, [](std::size_t) {
    return StorageBytes{kNumbers.data(), sizeof kNumbers};
  });
  return sink.bytes();
}

using Entries = std::vector<std::pair<std::string, std::string>>;

std::string refused(const Entries& entries) {
  MemorySink sink;
  ZipWriter zip(sink);
  for (const auto& [name, text] : entries) zip.add(name, text);
  zip.finish();
  MemorySource source(sink.bytes());
  return error_of([&] { ArchiveReader reader(source); });
}

TEST(Archive, StoragesAreReadAsTheyWereWritten) {
  const std::string bytes = archive();
  MemorySource source(bytes);
  const ArchiveReader reader(source);
  const PickleGraph& graph = reader.graph();
  const auto& tensor = std::get<TensorRef>(graph[graph.root]);
  const auto& storage = std::get<StorageRef>(graph[tensor.storage]);
  ASSERT_EQ(reader.storage_size(storage), sizeof kNumbers);
  std::array<float, 6> numbers{};
  reader.read_storage(storage, numbers.data());
  EXPECT_EQ(numbers, kNumbers);
}

TEST(Archive, HasWhatTorchSaveWrites) {
  const std::string bytes = archive();
  MemorySource source(bytes);
  const ZipReader zip(source);
  EXPECT_EQ(zip.read("archive/byteorder", 9), "little");
  EXPECT_EQ(zip.read("archive/version", 9), "3\n");
  EXPECT_EQ(zip.read("archive/.format_version", 9), "1");
  EXPECT_EQ(zip.read("archive/.storage_alignment", 9), "64");
  EXPECT_EQ(zip.read("archive/.data/serialization_id", 99).size(), 40u);
  EXPECT_EQ(zip.find("archive/data/0")->offset % 64, 0u);
}

TEST(Archive, RefusesOtherZipFiles) {
  const std::string none = "\x80\x02N.";
  EXPECT_EQ(refused({{"x/data.pkl", none}}), "");
  EXPECT_THAT(refused({{"x/y.txt", ""}}), HasSubstr("it has no data.pkl"));
  EXPECT_THAT(refused({{"x/y/data.pkl", none}}), HasSubstr("it has no data.pkl"));
  EXPECT_THAT(refused({{"x/data.pkl", none}, {"x/constants.pkl", ""}}), HasSubstr("TorchScript"));
  EXPECT_THAT(refused({{"x/data.pkl", none}, {"x/byteorder", "big"}}), HasSubstr("'big'-endian"));
}

TEST(Archive, RefusesMissingAndWrongStorages) {
  const std::string pickle = write_pickle(one_tensor());
  EXPECT_THAT(refused({{"x/data.pkl", pickle}}), HasSubstr("'x/data/0', a storage, is missing"));
  EXPECT_THAT(refused({{"x/data.pkl", pickle}, {"x/data/0", "abc"}}),
              HasSubstr("'x/data/0', a storage, has 3 bytes, expected 24"));
  PickleGraph graph = one_tensor();
  std::get<StorageRef>(graph.nodes[0]).count = std::uint64_t{1} << 62;
  EXPECT_THAT(refused({{"x/data.pkl", write_pickle(graph)}}), HasSubstr("too large"));
}

}  // namespace
}  // namespace ddp::detail::test
