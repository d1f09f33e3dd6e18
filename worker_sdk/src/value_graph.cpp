#include "worker_sdk/src/value_graph.h"

#include <ATen/Functions.h>

#include <map>
#include <unordered_map>

#include "worker_sdk/src/tensor_types.h"

namespace ddp::detail {
namespace {

constexpr int kDeepest = 64;  // as the reader's

class TakingApart {
 public:
  TakenApart run(const Value& value) {
    result_.graph.root = add(value, "", 0);
    return std::move(result_);
  }

 private:
  NodeId add_node(Node node) { return result_.graph.add(std::move(node)); }

  NodeId add(const Value& value, const std::string& where, int depth) {
    if (depth > kDeepest) throw BadFile(where + " is nested too deep");
    if (value.is_bool()) return add_node(value.to_bool());
    if (value.is_int()) return add_node(value.to_int());
    if (value.is_double()) return add_node(value.to_double());
    if (value.is_string()) return add_node(value.str());
    if (value.is_list()) return add_sequence(value.list(), false, where, depth);
    if (value.is_tuple()) return add_sequence(value.tuple(), true, where, depth);
    if (value.is_dict()) return add_mapping(value.dict(), where, depth);
    if (value.is_tensor() && value.tensor().defined()) return add_tensor(value.tensor(), where);
    return add_node(std::monostate{});
  }

  NodeId add_sequence(const std::vector<Value>& values, bool tuple, const std::string& where,
                      int depth) {
    Sequence sequence{tuple, {}};
    for (const Value& each : values) {
      const std::string place = where + "[" + std::to_string(sequence.items.size()) + "]";
      sequence.items.push_back(add(each, place, depth + 1));
    }
    return add_node(std::move(sequence));
  }

  NodeId add_mapping(const Dict& dict, const std::string& where, int depth) {
    Mapping mapping;
    for (const auto& [key, value] : dict) {
      const NodeId key_node = key.is_string() ? add_node(key.str()) : add_node(key.number());
      mapping.items.emplace_back(key_node, add(value, where + "[" + key.repr() + "]", depth + 1));
    }
    return add_node(std::move(mapping));
  }

  NodeId add_tensor(const at::Tensor& given, const std::string& where) {
    const std::string what = where.empty() ? "the tensor" : where;
    if (given.layout() != c10::kStrided || given.is_quantized() || given.is_meta() ||
        !given.has_storage()) {
      throw BadFile(what + " is a " + given.toString() + ", expected a dense tensor");
    }
    const at::Tensor tensor = given.resolve_conj().resolve_neg();
    const auto type = to_dtype(tensor.scalar_type());
    if (!type)
      throw BadFile(what + " has the type " + c10::toString(tensor.scalar_type()) +
                    ", which ddp's checkpoints do not have");
    return add_node(TensorRef{.storage = add_storage(tensor, *type, what),
                              .type = *type,
                              .offset = tensor.storage_offset(),
                              .sizes = tensor.sizes().vec(),
                              .strides = tensor.strides().vec(),
                              .requires_grad = given.requires_grad()});
  }

  NodeId add_storage(const at::Tensor& tensor, DType type, const std::string& what) {
    const auto [place, is_new] =
        nodes_.emplace(tensor.storage().unsafeGetStorageImpl(), Known{type, 0});
    if (place->second.type != type) {
      // Neither can Python; a copy would silently no longer be shared.
      throw BadFile(what + " shares its memory with a tensor of another type");
    }
    if (!is_new) return place->second.node;
    const bool typed = !info(type).storage.empty();
    const std::uint64_t count = tensor.storage().nbytes() / info(type).size;
    StorageRef storage;
    storage.key = std::to_string(result_.storages.size());
    storage.location = tensor.device().str();
    if (typed) storage.type = type;
    storage.count = typed ? count : count * info(type).size;
    result_.storages.push_back(tensor);
    result_.sizes.push_back(count * info(type).size);
    return place->second.node = add_node(std::move(storage));
  }

  struct Known {
    DType type;
    NodeId node;
  };
  TakenApart result_;
  std::unordered_map<const c10::StorageImpl*, Known> nodes_;
};

class PuttingTogether {
 public:
  PuttingTogether(const ArchiveReader& archive, c10::Device device)
      : archive_(archive), graph_(archive.graph()), device_(device) {}

  Value value(NodeId id) {
    return std::visit([this](const auto& node) { return make(node); }, graph_[id]);
  }

 private:
  static Value make(std::monostate) { return {}; }
  static Value make(bool set) { return set; }
  static Value make(std::int64_t number) { return number; }
  static Value make(double number) { return number; }
  static Value make(const std::string& text) { return text; }
  // A type of tensors; the reader lets no other name be a value.
  static Value make(const Global& global) { return global.name; }
  static Value make(const StorageRef&) { return {}; }

  Value make(const Sequence& sequence) {
    List values;
    values.reserve(sequence.items.size());
    for (const NodeId item : sequence.items) values.push_back(value(item));
    if (sequence.tuple) return Tuple{std::move(values)};
    return values;
  }

  Value make(const Mapping& mapping) {
    Dict dict;
    for (const auto& [key, item] : mapping.items) {
      const auto* text = std::get_if<std::string>(&graph_[key]);
      dict[text != nullptr ? Key(*text) : Key(std::get<std::int64_t>(graph_[key]))] = value(item);
    }
    return dict;
  }

  Value make(const TensorRef& ref) {
    at::Tensor tensor = tensor_over(bytes(std::get<StorageRef>(graph_[ref.storage])), ref.type,
                                    ref.offset, ref.sizes, ref.strides);
    if (ref.conj) tensor = tensor.conj();
    if (ref.neg) tensor = tensor._neg_view();
    if (ref.requires_grad) tensor.set_requires_grad(true);
    return tensor;
  }

  const at::Tensor& bytes(const StorageRef& storage) {
    const auto [place, is_new] = storages_.emplace(storage.key, at::Tensor());
    if (!is_new) return place->second;
    const auto size = static_cast<std::int64_t>(archive_.storage_size(storage));
    const at::Tensor read = at::empty({size}, at::kByte);
    archive_.read_storage(storage, read.data_ptr());
    if (storage.type == DType::Bool) make_bools(read);
    return place->second = read.to(device_);
  }

  const ArchiveReader& archive_;
  const PickleGraph& graph_;
  c10::Device device_;
  std::map<std::string, at::Tensor> storages_;
};

}  // namespace

TakenApart take_apart(const Value& value) {
  return TakingApart().run(value);
}

at::Tensor storage_on_cpu(const at::Tensor& tensor) {
  const at::NoGradGuard no_grad;
  const auto size = static_cast<std::int64_t>(tensor.storage().nbytes());
  const at::Tensor bytes =
      at::empty({0}, at::TensorOptions().dtype(at::kByte).device(tensor.device()));
  return bytes.set_(tensor.storage(), 0, {size}, {1}).cpu();
}

Value put_together(const ArchiveReader& archive, c10::Device device) {
  return PuttingTogether(archive, device).value(archive.graph().root);
}

at::Tensor tensor_over(const at::Tensor& bytes_on_device, DType type, std::int64_t offset,
                       c10::IntArrayRef sizes, c10::IntArrayRef strides) {
  const auto options = bytes_on_device.options().dtype(to_scalar_type(type));
  return at::empty({0}, options).set_(bytes_on_device.storage(), offset, sizes, strides);
}

void make_bools(const at::Tensor& bytes) {
  bytes.clamp_max_(1);
}

}  // namespace ddp::detail
