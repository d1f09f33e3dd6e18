#include "worker_sdk/src/checkpoint/pickle_calls.h"

#include <limits>

namespace ddp::detail {
namespace {

constexpr std::string_view kOrderedDict = "collections.OrderedDict";
constexpr std::string_view kSize = "torch.Size", kDevice = "torch.device";
constexpr std::string_view kTensor2 = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view kTensor3 = "torch._utils._rebuild_tensor_v3";
constexpr std::string_view kParameter = "torch._utils._rebuild_parameter";
constexpr std::string_view kUntyped = "torch.storage.UntypedStorage";
constexpr std::string_view kTorch = "torch.";
constexpr std::size_t kMostDimensions = 64;

const DTypeInfo* dtype_named(std::string_view global) {
  if (!global.starts_with(kTorch)) return nullptr;
  return find_dtype(&DTypeInfo::name, global.substr(kTorch.size()));
}

const DTypeInfo* storage_named(std::string_view global) {
  if (!global.starts_with(kTorch)) return nullptr;
  return find_dtype(&DTypeInfo::storage, global.substr(kTorch.size()));
}

using Arguments = std::span<const NodeId>;

// The argument as a `Wanted`. Throws what the call expects there.
template <class Wanted>
const Wanted& argument(const PickleGraph& graph, Arguments arguments, std::size_t index,
                       const char* expected) {
  const Wanted* found = nullptr;
  if (index < arguments.size()) found = std::get_if<Wanted>(&graph[arguments[index]]);
  if (found == nullptr) throw BadFile(std::string("its pickle is damaged: expected ") + expected);
  return *found;
}

std::vector<std::int64_t> integers(const PickleGraph& graph, const Sequence& sequence,
                                   const char* what) {
  if (sequence.items.size() > kMostDimensions) {
    throw BadFile("a tensor has " + std::to_string(sequence.items.size()) + " " + what +
                  ", expected at most " + std::to_string(kMostDimensions));
  }
  std::vector<std::int64_t> result;
  for (const NodeId item : sequence.items) {
    const auto* number = std::get_if<std::int64_t>(&graph[item]);
    if (number == nullptr || *number < 0) {
      throw BadFile(std::string("the ") + what + " of a tensor: expected integers from 0 on" +
                    (number != nullptr ? ", found " + std::to_string(*number) : ""));
    }
    result.push_back(*number);
  }
  return result;
}

// The number of elements of the storage that the tensor needs. Nothing if it does not fit into 64
// bits.
std::optional<std::uint64_t> needed(const TensorRef& tensor) {
  std::int64_t last = tensor.offset, count = 1;
  bool empty = false;
  for (const std::int64_t size : tensor.sizes) empty = empty || size == 0;
  for (std::size_t i = 0; i < tensor.sizes.size() && !empty; ++i) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(tensor.sizes[i] - 1, tensor.strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last) ||
        __builtin_mul_overflow(count, tensor.sizes[i], &count)) {
      return std::nullopt;
    }
  }
  const auto end = static_cast<std::uint64_t>(last);
  return empty ? end : end + 1;
}

std::string shown(const std::vector<std::int64_t>& sizes) {
  std::string text = "[";
  for (const std::int64_t size : sizes) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  }
  return text + "]";
}

void check_within(const TensorRef& tensor, const StorageRef& storage) {
  const std::uint64_t has = storage.type ? storage.count : storage.count / info(tensor.type).size;
  const auto needs = needed(tensor);
  if (needs && *needs <= has) return;
  throw BadFile("a tensor of sizes " + shown(tensor.sizes) + ", strides " + shown(tensor.strides) +
                " and offset " + std::to_string(tensor.offset) + " reaches beyond its storage " +
                in_quotes(storage.key) + ", which has " + std::to_string(has) + " elements");
}

bool flag(const PickleGraph& graph, const Mapping& metadata, std::string_view name) {
  for (const auto& [key, value] : metadata.items) {
    const auto* text = std::get_if<std::string>(&graph[key]);
    const auto* set = std::get_if<bool>(&graph[value]);
    if (text != nullptr && set != nullptr && *text == name) return *set;
  }
  return false;
}

// (storage, offset, sizes, strides, requires_grad, hooks[, type in version 3][, metadata])
Node rebuild_tensor(const PickleGraph& graph, Arguments arguments, bool version3) {
  const auto& storage = argument<StorageRef>(graph, arguments, 0, "the storage of a tensor");
  TensorRef tensor;
  tensor.storage = arguments[0];
  tensor.offset = argument<std::int64_t>(graph, arguments, 1, "the offset of a tensor");
  if (tensor.offset < 0) {
    throw BadFile("the offset of a tensor: expected at least 0, found " +
                  std::to_string(tensor.offset));
  }
  tensor.sizes =
      integers(graph, argument<Sequence>(graph, arguments, 2, "the sizes of a tensor"), "sizes");
  tensor.strides = integers(
      graph, argument<Sequence>(graph, arguments, 3, "the strides of a tensor"), "strides");
  if (tensor.sizes.size() != tensor.strides.size()) {
    throw BadFile("a tensor has " + std::to_string(tensor.sizes.size()) + " sizes and " +
                  std::to_string(tensor.strides.size()) + " strides");
  }
  tensor.requires_grad = argument<bool>(graph, arguments, 4, "the requires_grad of a tensor");
  if (version3) {
    const auto& name = argument<Global>(graph, arguments, 6, "the type of a tensor").name;
    const DTypeInfo* type = dtype_named(name);
    if (type == nullptr) throw BadFile("the type of a tensor is " + in_quotes(name));
    tensor.type = type->type;
  }
  if (version3 == storage.type.has_value()) {
    throw BadFile("the type of a tensor is given " + std::string(version3 ? "twice" : "nowhere"));
  }
  if (storage.type) tensor.type = *storage.type;
  const std::size_t metadata = version3 ? 7 : 6;
  if (arguments.size() > metadata) {
    const auto& given = argument<Mapping>(graph, arguments, metadata, "the metadata of a tensor");
    if (given.items.size() > kMostDimensions)
      throw BadFile("the metadata of a tensor is too large");
    tensor.conj = flag(graph, given, "conj");
    tensor.neg = flag(graph, given, "neg");
  }
  check_within(tensor, storage);
  return tensor;
}

// "cuda:1" for torch.device("cuda", 1).
std::string device(const PickleGraph& graph, Arguments arguments) {
  const auto& type = argument<std::string>(graph, arguments, 0, "the name of a device");
  if (arguments.size() == 1) return type;
  return type + ":" +
         std::to_string(argument<std::int64_t>(graph, arguments, 1, "the index of a device"));
}

}  // namespace

void check_global(std::string_view name) {
  for (const std::string_view known :
       {kOrderedDict, kSize, kDevice, kTensor2, kTensor3, kParameter, kUntyped}) {
    if (name == known) return;
  }
  if (dtype_named(name) != nullptr || storage_named(name) != nullptr) return;
  throw BadFile("it names the global " + in_quotes(name) +
                ", which a checkpoint of weights has no use for");
}

Node call(const PickleGraph& graph, std::string_view name, Arguments arguments) {
  if (name == kOrderedDict && arguments.empty()) return Mapping{};
  if (name == kTensor2) return rebuild_tensor(graph, arguments, false);
  if (name == kTensor3) return rebuild_tensor(graph, arguments, true);
  if (name == kDevice) return device(graph, arguments);
  if (name == kSize) {
    Sequence sizes = argument<Sequence>(graph, arguments, 0, "the sizes of a torch.Size");
    sizes.tuple = true;
    return sizes;
  }
  if (name == kParameter) {
    TensorRef tensor = argument<TensorRef>(graph, arguments, 0, "the tensor of a parameter");
    tensor.requires_grad = argument<bool>(graph, arguments, 1, "the requires_grad of a parameter");
    return tensor;
  }
  throw BadFile("its pickle is damaged: it calls " + in_quotes(name) + " with " +
                std::to_string(arguments.size()) + " arguments");
}

StorageRef storage_of(const PickleGraph& graph, const Node& persistent_id) {
  const auto* tuple = std::get_if<Sequence>(&persistent_id);
  const Arguments id = tuple != nullptr ? Arguments(tuple->items) : Arguments{};
  if (id.size() != 5 || argument<std::string>(graph, id, 0, "the word 'storage'") != "storage") {
    throw BadFile("its pickle is damaged: expected the five parts of a storage");
  }
  StorageRef storage;
  const auto& type = argument<Global>(graph, id, 1, "the type of a storage").name;
  if (const DTypeInfo* known = storage_named(type)) {
    storage.type = known->type;
  } else if (type != kUntyped) {
    throw BadFile("the type of a storage is " + in_quotes(type));
  }
  storage.key = argument<std::string>(graph, id, 2, "the key of a storage");
  storage.location = argument<std::string>(graph, id, 3, "the device of a storage");
  const auto count = argument<std::int64_t>(graph, id, 4, "the length of a storage");
  if (count < 0) {
    throw BadFile("the length of the storage " + in_quotes(storage.key) + " is " +
                  std::to_string(count));
  }
  storage.count = static_cast<std::uint64_t>(count);
  return storage;
}

}  // namespace ddp::detail
