// The pickles of torch.save as trees of plain values, and back. A pickle is a program for a small
// stack machine that may call any Python function; this reader knows the few calls that weights
// need, carries them out itself, and refuses all others by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "worker_sdk/src/checkpoint/bad_file.h"
#include "worker_sdk/src/checkpoint/dtype.h"

namespace ddp::detail {

// A place in PickleGraph::nodes.
using NodeId = std::uint32_t;

// Where the elements of tensors lie: an entry data/KEY of the file.
struct StorageRef {
  std::string key;
  std::string location;       // "cpu", "cuda:0"
  std::optional<DType> type;  // none: the tensors say it, and `count` is in bytes
  std::uint64_t count = 0;    // elements
};

// A view of a storage; it has been checked not to reach beyond it.
struct TensorRef {
  NodeId storage = 0;
  DType type = DType::Float32;
  std::int64_t offset = 0;  // in elements, as the strides
  std::vector<std::int64_t> sizes, strides;
  bool requires_grad = false;
  bool conj = false, neg = false;  // bits of lazy operations
};

struct Sequence {
  bool tuple = false;
  std::vector<NodeId> items;
};

// In the order in which they were set; a key may come twice, and the last one counts.
struct Mapping {
  std::vector<std::pair<NodeId, NodeId>> items;
};

// A name of Python, MODULE.NAME; only within the reader.
struct Global {
  std::string name;
};

// None is std::monostate.
using Node = std::variant<std::monostate, bool, std::int64_t, double, std::string, Sequence,
                          Mapping, TensorRef, StorageRef, Global>;

// Values may be shared, never in a circle: what hangs below `root` is a tree if shared values are
// copied.
struct PickleGraph {
  std::vector<Node> nodes;
  NodeId root = 0;

  const Node& operator[](NodeId id) const { return nodes[id]; }
  NodeId add(Node node) {
    nodes.push_back(std::move(node));
    return static_cast<NodeId>(nodes.size() - 1);
  }
};

// What a pickle may cost.
struct PickleLimits {
  std::size_t values = 8'000'000;  // made by the pickle, and again when shared ones are copied
  std::size_t depth = 64;          // of containers in containers
};

// What is below the root is checked: no circles, keys are strings and integers, tensors lie within
// their storages. Throws BadFile.
PickleGraph read_pickle(std::string_view bytes, const PickleLimits& limits = {});

// Protocol 2, as torch.load(weights_only=True) reads it. Text must be UTF-8, else BadFile.
// Recursion is as deep as the tree.
std::string write_pickle(const PickleGraph& graph);

}  // namespace ddp::detail
