#include <bit>

#include "worker_sdk/src/checkpoint/little_endian.h"
#include "worker_sdk/src/checkpoint/pickle.h"
#include "worker_sdk/src/checkpoint/pickle_opcode.h"

namespace ddp::detail {
namespace {

class Writer {
 public:
  explicit Writer(const PickleGraph& graph) : graph_(graph) {}

  std::string write() {
    put(Opcode::Proto);
    bytes_ += '\2';
    value(graph_.root);
    put(Opcode::Stop);
    return std::move(bytes_);
  }

 private:
  void put(Opcode opcode) { bytes_ += static_cast<char>(opcode); }

  template <class Number>
  void put(Opcode opcode, Number number) {
    put(opcode);
    bytes_ += to_little_endian(number);
  }

  void value(NodeId id) {
    std::visit([this](const auto& each) { write(each); }, graph_[id]);
  }

  void write(std::monostate) { put(Opcode::None); }
  void write(bool set) { put(set ? Opcode::NewTrue : Opcode::NewFalse); }

  void write(std::int64_t number) {
    if (number >= 0 && number < 256) return put(Opcode::BinInt1, static_cast<std::uint8_t>(number));
    if (number == static_cast<std::int32_t>(number)) {
      return put(Opcode::BinInt, static_cast<std::uint32_t>(number));
    }
    put(Opcode::Long1, std::uint8_t{8});
    bytes_ += to_little_endian(static_cast<std::uint64_t>(number));
  }

  void write(double number) {
    put(Opcode::BinFloat);
    const std::string bytes = to_little_endian(std::bit_cast<std::uint64_t>(number));
    bytes_.append(bytes.rbegin(), bytes.rend());
  }

  void write(const std::string& text) {
    if (!is_utf8(text)) throw BadFile("the text " + in_quotes(text) + " is not UTF-8");
    if (text.size() > 0xffffffff) throw BadFile("a text of more than 4 GiB cannot be saved");
    put(Opcode::BinUnicode, static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
  }

  void write(const Sequence& sequence) {
    if (!sequence.tuple) put(Opcode::EmptyList);
    put(Opcode::Mark);
    for (const NodeId item : sequence.items) value(item);
    put(sequence.tuple ? Opcode::Tuple : Opcode::Appends);
  }

  void write(const Mapping& mapping) {
    put(Opcode::EmptyDict);
    put(Opcode::Mark);
    for (const auto& [key, item] : mapping.items) {
      value(key);
      value(item);
    }
    put(Opcode::SetItems);
  }

  void global(const std::string& module, const std::string& name) {
    put(Opcode::Global);
    bytes_ += module + "\n" + name + "\n";
  }

  void write(const Global& named) {
    const auto dot = named.name.rfind('.');
    global(named.name.substr(0, dot), named.name.substr(dot + 1));
  }

  void write(const StorageRef& storage) {
    put(Opcode::Mark);
    write(std::string("storage"));
    if (storage.type) {
      global("torch", std::string(info(*storage.type).storage));
    } else {
      global("torch.storage", "UntypedStorage");
    }
    write(storage.key);
    write(storage.location);
    write(static_cast<std::int64_t>(storage.count));
    put(Opcode::Tuple);
    put(Opcode::BinPersId);
  }

  void integers(const std::vector<std::int64_t>& numbers) {
    put(Opcode::Mark);
    for (const std::int64_t number : numbers) write(number);
    put(Opcode::Tuple);
  }

  void write(const TensorRef& tensor) {
    const auto& storage = std::get<StorageRef>(graph_[tensor.storage]);
    global("torch._utils", storage.type ? "_rebuild_tensor_v2" : "_rebuild_tensor_v3");
    put(Opcode::Mark);
    write(storage);
    write(tensor.offset);
    integers(tensor.sizes);
    integers(tensor.strides);
    write(tensor.requires_grad);
    global("collections", "OrderedDict");  // hooks: none
    put(Opcode::EmptyTuple);
    put(Opcode::Reduce);
    if (!storage.type) global("torch", std::string(info(tensor.type).name));
    put(Opcode::Tuple);
    put(Opcode::Reduce);
  }

  const PickleGraph& graph_;
  std::string bytes_;
};

}  // namespace

std::string write_pickle(const PickleGraph& graph) {
  return Writer(graph).write();
}

}  // namespace ddp::detail
