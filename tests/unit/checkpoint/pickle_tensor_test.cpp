// Tensors and storages in pickles.
#include <gmock/gmock.h>

#include "tests/unit/checkpoint/error_of.h"
#include "worker_sdk/src/checkpoint/pickle.h"

namespace ddp::detail::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A tensor and its storage, with one of their parts other than in a right one.
struct Parts {
  TensorRef tensor{.sizes = {2, 3}, .strides = {3, 1}};
  StorageRef storage{.key = "0", .location = "cpu", .type = DType::Float32, .count = 6};
};

PickleGraph graph_of(Parts parts) {
  PickleGraph graph;
  parts.tensor.storage = graph.add(parts.storage);
  graph.root = graph.add(parts.tensor);
  return graph;
}

TensorRef read_back(const Parts& parts) {
  const PickleGraph graph = read_pickle(write_pickle(graph_of(parts)));
  return std::get<TensorRef>(graph[graph.root]);
}

std::string refused(const Parts& parts) {
  return error_of([&] { read_back(parts); });
}

TEST(PickleTensor, IsReadAsItWasWritten) {
  Parts parts;
  parts.tensor.offset = 1;
  parts.tensor.sizes = {1, 2};
  parts.tensor.requires_grad = true;
  const PickleGraph graph = read_pickle(write_pickle(graph_of(parts)));
  const auto& tensor = std::get<TensorRef>(graph[graph.root]);
  EXPECT_EQ(tensor.type, DType::Float32);
  EXPECT_EQ(tensor.offset, 1);
  EXPECT_THAT(tensor.sizes, ElementsAre(1, 2));
  EXPECT_THAT(tensor.strides, ElementsAre(3, 1));
  EXPECT_TRUE(tensor.requires_grad);
  const auto& storage = std::get<StorageRef>(graph[tensor.storage]);
  EXPECT_EQ(storage.key, "0");
  EXPECT_EQ(storage.location, "cpu");
  EXPECT_EQ(storage.count, 6u);
}

TEST(PickleTensor, EveryTypeIsReadAsItWasWritten) {
  for (const DTypeInfo& type : kDTypes) {
    Parts parts;
    parts.tensor.type = type.type;
    if (type.storage.empty()) {
      parts.storage.type.reset();
      parts.storage.count = 6 * type.size;
    } else {
      parts.storage.type = type.type;
    }
    EXPECT_EQ(read_back(parts).type, type.type) << type.name;
    if (!type.storage.empty()) continue;
    parts.storage.count -= 1;
    EXPECT_THAT(refused(parts), HasSubstr("reaches beyond")) << type.name;
  }
}

TEST(PickleTensor, MayNotReachBeyondItsStorage) {
  Parts parts;
  parts.storage.count = 5;
  EXPECT_THAT(refused(parts),
              HasSubstr("a tensor of sizes [2, 3], strides [3, 1] and offset 0 reaches beyond its "
                        "storage '0', which has 5 elements"));
  parts = {};
  parts.tensor.offset = 1;
  EXPECT_THAT(refused(parts), HasSubstr("reaches beyond"));
  parts = {};
  parts.tensor.strides = {4, 1};
  EXPECT_THAT(refused(parts), HasSubstr("reaches beyond"));
  // Without elements it reaches nowhere, but may not begin beyond the end either.
  parts = {};
  parts.tensor.sizes = {0, 3};
  EXPECT_EQ(refused(parts), "");
  parts.tensor.offset = 7;
  EXPECT_THAT(refused(parts), HasSubstr("reaches beyond"));
}

TEST(PickleTensor, OverflowIsNoWayAround) {
  const std::int64_t large = std::int64_t{1} << 62;
  for (const auto& [sizes, strides] :
       std::vector<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>>{
           {{large, 8}, {4, 1}},
           {{3, 1}, {large, 1}},
           {{3, 3}, {large, large}},
           {{large, large}, {0, 0}}}) {
    Parts parts;
    parts.tensor.sizes = sizes;
    parts.tensor.strides = strides;
    EXPECT_THAT(refused(parts), HasSubstr("reaches beyond"));
  }
  // A stride of zero repeats elements: many of them in a small file, but no memory.
  Parts parts;
  parts.tensor.sizes = {large};
  parts.tensor.strides = {0};
  EXPECT_EQ(refused(parts), "");
}

TEST(PickleTensor, NegativeNumbersAreRefused) {
  Parts parts;
  parts.tensor.offset = -1;
  EXPECT_THAT(refused(parts), HasSubstr("offset of a tensor: expected at least 0, found -1"));
  parts = {};
  parts.tensor.sizes = {-2, -3};
  EXPECT_THAT(refused(parts),
              HasSubstr("sizes of a tensor: expected integers from 0 on, found -2"));
  parts = {};
  parts.tensor.strides = {-3, 1};
  EXPECT_THAT(refused(parts), HasSubstr("strides of a tensor"));
  parts = {};
  parts.storage.count = static_cast<std::uint64_t>(-6);
  EXPECT_THAT(refused(parts), HasSubstr("length of the storage '0' is -6"));
}

TEST(PickleTensor, SizesAndStridesMustAgree) {
  Parts parts;
  parts.tensor.strides = {1};
  EXPECT_THAT(refused(parts), HasSubstr("2 sizes and 1 strides"));
  parts = {};
  parts.tensor.sizes = parts.tensor.strides = std::vector<std::int64_t>(65, 1);
  EXPECT_THAT(refused(parts), HasSubstr("65 sizes, expected at most 64"));
}

TEST(PickleTensor, AStorageAloneIsRefused) {
  PickleGraph graph;
  graph.root = graph.add(StorageRef{.key = "0", .location = "cpu", .type = DType::Int8});
  EXPECT_THAT(error_of([&] { read_pickle(write_pickle(graph)); }), HasSubstr("without a tensor"));
}

}  // namespace
}  // namespace ddp::detail::test
