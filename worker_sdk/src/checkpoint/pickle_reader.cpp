#include <algorithm>
#include <bit>
#include <limits>

#include "worker_sdk/src/checkpoint/little_endian.h"
#include "worker_sdk/src/checkpoint/pickle.h"
#include "worker_sdk/src/checkpoint/pickle_calls.h"
#include "worker_sdk/src/checkpoint/pickle_opcode.h"

namespace ddp::detail {
namespace {

constexpr NodeId kMark = std::numeric_limits<NodeId>::max();
constexpr NodeId kNothing = kMark - 1;

[[noreturn]] void damaged(const std::string& how) {
  throw BadFile("its pickle is damaged: " + how);
}

// The stack machine.
class Machine {
 public:
  Machine(std::string_view bytes, const PickleLimits& limits) : bytes_(bytes), limits_(limits) {}

  PickleGraph run() {
    while (!step(static_cast<Opcode>(number<std::uint8_t>()))) {
    }
    graph_.root = pop();
    return std::move(graph_);
  }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - at_) damaged("it is cut");
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }

  template <class Number>
  Number number() {
    return little_endian<Number>(take(sizeof(Number)));
  }

  std::string_view line() {
    const auto end = bytes_.find('\n', at_);
    if (end == bytes_.npos) damaged("it is cut");
    const std::string_view text = take(end - at_);
    take(1);
    return text;
  }

  // `weight` counts what the value holds besides itself.
  NodeId make(Node node, std::size_t weight = 0) {
    weight_ += 1 + weight;
    if (weight_ > limits_.values) {
      throw BadFile("its pickle has more than " + std::to_string(limits_.values) + " values");
    }
    return graph_.add(std::move(node));
  }

  void push(NodeId id) {
    if (stack_.size() >= limits_.values) damaged("its stack is too deep");
    stack_.push_back(id);
  }
  void push_new(Node node, std::size_t weight = 0) { push(make(std::move(node), weight)); }

  NodeId top() const {
    if (stack_.empty() || stack_.back() == kMark) damaged("its stack is empty");
    return stack_.back();
  }
  NodeId pop() {
    const NodeId id = top();
    stack_.pop_back();
    return id;
  }

  std::vector<NodeId> pop_to_mark() {
    std::size_t mark = stack_.size();
    while (mark > 0 && stack_[mark - 1] != kMark) --mark;
    if (mark == 0) damaged("a mark is missing");
    const std::vector<NodeId> items(stack_.begin() + static_cast<std::ptrdiff_t>(mark),
                                    stack_.end());
    stack_.resize(mark - 1);
    return items;
  }

  template <class Container>
  Container& container(const char* what) {
    auto* found = std::get_if<Container>(&graph_.nodes[top()]);
    if (found == nullptr) damaged(std::string("expected ") + what + " to add to");
    return *found;
  }

  void append(const std::vector<NodeId>& items) {
    auto& list = container<Sequence>("a list");
    if (list.tuple) damaged("it adds to a tuple");
    list.items.insert(list.items.end(), items.begin(), items.end());
  }

  void set_items(const std::vector<NodeId>& items) {
    if (items.size() % 2 != 0) damaged("a key has no value");
    auto& mapping = container<Mapping>("a dict");
    for (std::size_t i = 0; i < items.size(); i += 2) {
      mapping.items.emplace_back(items[i], items[i + 1]);
    }
  }

  void push_tuple(std::vector<NodeId> items) { push_new(Sequence{true, std::move(items)}); }

  void push_short_tuple(std::size_t count) {
    std::vector<NodeId> items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = pop();
    push_tuple(std::move(items));
  }

  void put(std::uint64_t index) {
    if (index >= limits_.values) damaged("its memo is too large");
    if (index >= memo_.size()) memo_.resize(index + 1, kNothing);
    memo_[index] = top();
  }

  void get(std::uint64_t index) {
    if (index >= memo_.size() || memo_[index] == kNothing) damaged("its memo has a hole");
    push(memo_[index]);
  }

  void push_long() {
    const std::string_view digits = take(number<std::uint8_t>());
    if (digits.size() > sizeof(std::uint64_t)) {
      throw BadFile("it holds an integer of more than 64 bits");
    }
    const bool negative = !digits.empty() && (digits.back() & 0x80) != 0;
    std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
    for (std::size_t i = digits.size(); i-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(digits[i]);
    }
    push_new(static_cast<std::int64_t>(value));
  }

  void push_float() {
    std::uint64_t bits = 0;
    for (const char byte : take(8)) bits = bits << 8 | static_cast<unsigned char>(byte);
    push_new(std::bit_cast<double>(bits));
  }

  void push_global() {
    std::string name(line());
    name += '.';
    name += line();
    check_global(name);
    push_new(Global{std::move(name)});
  }

  void reduce() {
    const NodeId arguments = pop(), function = pop();
    const auto* tuple = std::get_if<Sequence>(&graph_[arguments]);
    const auto* global = std::get_if<Global>(&graph_[function]);
    if (tuple == nullptr || !tuple->tuple || global == nullptr) damaged("a call is none");
    Node result = call(graph_, global->name, tuple->items);
    const auto* tensor = std::get_if<TensorRef>(&result);
    const auto* sizes = std::get_if<Sequence>(&result);
    const std::size_t weight = tensor != nullptr  ? tensor->sizes.size()
                               : sizes != nullptr ? sizes->items.size()
                                                  : 0;
    push_new(std::move(result), weight);
  }

  // Attributes, such as the _metadata of a state dict: nothing that a value needs.
  void build() {
    pop();
    container<Mapping>("an OrderedDict");
  }

  void check_protocol() {
    const int protocol = number<std::uint8_t>();
    if (protocol != 2) {
      throw BadFile("its pickle has protocol " + std::to_string(protocol) +
                    ", expected 2, the one of torch.save");
    }
  }

  // Whether the pickle ends here.
  bool step(Opcode opcode) {
    switch (opcode) {
      case Opcode::Stop:
        return true;
      case Opcode::Proto:
        check_protocol();
        break;
      case Opcode::Mark:
        push(kMark);
        break;
      case Opcode::None:
        push_new(std::monostate{});
        break;
      case Opcode::NewTrue:
      case Opcode::NewFalse:
        push_new(opcode == Opcode::NewTrue);
        break;
      case Opcode::BinInt:
        push_new(std::int64_t{static_cast<std::int32_t>(number<std::uint32_t>())});
        break;
      case Opcode::BinInt1:
        push_new(std::int64_t{number<std::uint8_t>()});
        break;
      case Opcode::BinInt2:
        push_new(std::int64_t{number<std::uint16_t>()});
        break;
      case Opcode::Long1:
        push_long();
        break;
      case Opcode::BinFloat:
        push_float();
        break;
      case Opcode::BinUnicode:
        push_new(std::string(take(number<std::uint32_t>())));
        break;
      case Opcode::BinPersId: {
        const NodeId id = pop();
        push_new(storage_of(graph_, graph_[id]), 1);
        break;
      }
      case Opcode::Global:
        push_global();
        break;
      case Opcode::Reduce:
        reduce();
        break;
      case Opcode::Build:
        build();
        break;
      default:
        step_container(opcode);
    }
    return false;
  }

  void step_container(Opcode opcode) {
    switch (opcode) {
      case Opcode::EmptyTuple:
        return push_tuple({});
      case Opcode::Tuple:
        return push_tuple(pop_to_mark());
      case Opcode::Tuple1:
      case Opcode::Tuple2:
      case Opcode::Tuple3:
        return push_short_tuple(1u + static_cast<std::size_t>(opcode) -
                                static_cast<std::size_t>(Opcode::Tuple1));
      case Opcode::EmptyList:
        return push_new(Sequence{});
      case Opcode::Append: {
        const NodeId item = pop();
        return append({item});
      }
      case Opcode::Appends:
        return append(pop_to_mark());
      case Opcode::EmptyDict:
        return push_new(Mapping{});
      case Opcode::SetItem: {
        const NodeId value = pop(), key = pop();
        return set_items({key, value});
      }
      case Opcode::SetItems:
        return set_items(pop_to_mark());
      case Opcode::BinPut:
        return put(number<std::uint8_t>());
      case Opcode::LongBinPut:
        return put(number<std::uint32_t>());
      case Opcode::BinGet:
        return get(number<std::uint8_t>());
      case Opcode::LongBinGet:
        return get(number<std::uint32_t>());
      default:
        throw BadFile("its pickle has the opcode " + std::to_string(static_cast<int>(opcode)) +
                      ", which a checkpoint of weights has no use for");
    }
  }

  std::string_view bytes_;
  PickleLimits limits_;
  std::size_t at_ = 0;
  std::size_t weight_ = 0;
  PickleGraph graph_;
  std::vector<NodeId> stack_;
  std::vector<NodeId> memo_;
};

// Walks what is below the root, each value once, and adds up what a copy of it would cost.
class Checker {
 public:
  Checker(const PickleGraph& graph, const PickleLimits& limits)
      : graph_(graph), limits_(limits), costs_(graph.nodes.size(), kUnknown) {}

  void check(NodeId id) {
    if (cost(id, 0).values > limits_.values) {
      throw BadFile("its pickle has more than " + std::to_string(limits_.values) +
                    " values when shared ones are copied");
    }
  }

 private:
  struct Cost {
    std::uint64_t values;
    std::size_t depth;
  };
  static constexpr Cost kUnknown{0, 0};
  static constexpr std::size_t kBytesOfAValue = 64;

  Cost cost(NodeId id, std::size_t depth) {
    if (depth > limits_.depth) {
      throw BadFile("its containers are nested more than " + std::to_string(limits_.depth) +
                    " deep, or hold themselves");
    }
    if (costs_[id].values == 0) costs_[id] = compute(graph_[id], depth);
    if (depth + costs_[id].depth > limits_.depth) {
      throw BadFile("its containers are nested more than " + std::to_string(limits_.depth) +
                    " deep");
    }
    return costs_[id];
  }

  void add(Cost& sum, NodeId id, std::size_t depth) {
    const Cost part = cost(id, depth + 1);
    // Stays far below an overflow: both are at most `values` more than the limit.
    sum.values = std::min<std::uint64_t>(sum.values + part.values, limits_.values + 1);
    sum.depth = std::max(sum.depth, part.depth + 1);
  }

  Cost compute(const Node& node, std::size_t depth) {
    Cost sum{1, 0};
    if (const auto* text = std::get_if<std::string>(&node)) {
      sum.values += text->size() / kBytesOfAValue;
    } else if (const auto* tensor = std::get_if<TensorRef>(&node)) {
      sum.values += tensor->sizes.size();
    } else if (const auto* sequence = std::get_if<Sequence>(&node)) {
      for (const NodeId item : sequence->items) add(sum, item, depth);
    } else if (const auto* mapping = std::get_if<Mapping>(&node)) {
      for (const auto& [key, value] : mapping->items) {
        check_key(graph_[key]);
        add(sum, key, depth);
        add(sum, value, depth);
      }
    } else if (std::holds_alternative<StorageRef>(node)) {
      throw BadFile("it holds a storage without a tensor, which is not supported");
    } else if (const auto* global = std::get_if<Global>(&node)) {
      check_value(global->name);
    }
    return sum;
  }

  static void check_key(const Node& key) {
    if (std::holds_alternative<std::string>(key) || std::holds_alternative<std::int64_t>(key)) {
      return;
    }
    throw BadFile("a dict has a key that is neither a string nor an integer");
  }

  // A type of tensors may be a value: torch.float32.
  static void check_value(const std::string& name) {
    if (name.starts_with("torch.") && find_dtype(&DTypeInfo::name, name.substr(6)) != nullptr) {
      return;
    }
    throw BadFile("it holds " + in_quotes(name) + " as a value, which is not supported");
  }

  const PickleGraph& graph_;
  PickleLimits limits_;
  std::vector<Cost> costs_;
};

}  // namespace

PickleGraph read_pickle(std::string_view bytes, const PickleLimits& limits) {
  PickleGraph graph = Machine(bytes, limits).run();
  Checker(graph, limits).check(graph.root);
  return graph;
}

}  // namespace ddp::detail
