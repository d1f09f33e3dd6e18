// What a checkpoint holds: tensors, numbers and texts in dicts, lists and tuples, as in Python.
//
//   ddp::Dict checkpoint;
//   checkpoint["model"] = ddp::state_dict(model);
//   checkpoint["epoch"] = 3;
//   checkpoint["epoch"].to_int();                                  // 3
//   checkpoint["model"]["fc1.weight"].tensor();
//
// Everything is a value: a copy of a Dict is independent, except that tensors share their memory as
// copies of an at::Tensor do. Reading what is not there, or as another type, throws ddp::Error that
// names it.
#pragma once

#include <ATen/core/Tensor.h>

#include <compare>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ddp/export.h"

namespace ddp {

namespace detail {

[[noreturn]] DDP_API void refuse_integer(std::uint64_t number);

template <std::integral Integer>
std::int64_t as_int64(Integer number) {
  if constexpr (std::is_unsigned_v<Integer> && sizeof(Integer) == sizeof(std::uint64_t)) {
    if (number > INT64_MAX) refuse_integer(number);
  }
  return static_cast<std::int64_t>(number);
}

}  // namespace detail

class Value;

// The key of a Dict: a string or an integer, as in Python, where 1 and "1" differ.
class DDP_API Key {
 public:
  // Implicit, so that a literal is a key.
  Key(std::string text) : key_(std::move(text)) {}
  Key(const char* text) : key_(std::string(text)) {}
  template <std::integral Integer>
  Key(Integer number) : key_(detail::as_int64(number)) {}

  // Whether it is a string and not an integer.
  bool is_string() const { return std::holds_alternative<std::string>(key_); }
  // The string, or the integer. Throws ddp::Error if it is the other kind.
  const std::string& str() const;
  std::int64_t number() const;

  // As Python shows it: 'fc1.weight' or 3.
  std::string repr() const;

  // Integers before strings, each in their own order.
  friend auto operator<=>(const Key&, const Key&) = default;
  friend bool operator==(const Key&, const Key&) = default;

 private:
  std::variant<std::int64_t, std::string> key_;
};

// Values by key, in the order in which the keys were first set.
// PyTorch: dict and collections.OrderedDict, which are read alike and written as dict.
class DDP_API Dict {
 public:
  // A key with its value.
  using Item = std::pair<Key, Value>;

  // Empty, of items (a key that comes twice has its last value), or as another.
  Dict();
  Dict(std::initializer_list<Item> items);
  Dict(const Dict& other);
  Dict(Dict&& other) noexcept;
  Dict& operator=(const Dict& other);
  Dict& operator=(Dict&& other) noexcept;
  ~Dict();

  // The number of items, whether there are none, and whether this key is among them.
  std::size_t size() const;
  bool empty() const { return size() == 0; }
  bool contains(const Key& key) const { return find(key) != nullptr; }

  // The value of the key, null if there is none. Valid until an item is added or erased.
  const Value* find(const Key& key) const;
  Value* find(const Key& key);

  // The value of the key; a new one, None, if there is none. Valid as that of find.
  Value& operator[](const Key& key);

  // The value of the key. Throws ddp::Error that lists the keys if there is none.
  const Value& operator[](const Key& key) const { return at(key); }
  const Value& at(const Key& key) const;

  // Whether there was one. Takes time in proportion to size().
  bool erase(const Key& key);

  // The items in their order.
  std::vector<Item>::const_iterator begin() const;
  std::vector<Item>::const_iterator end() const;

 private:
  std::vector<Item> items_;
  std::map<Key, std::size_t> places_;
};

// PyTorch: list.
using List = std::vector<Value>;

// Values that belong together. PyTorch: tuple, and torch.Size, which is read as one.
struct Tuple {
  std::vector<Value> items;  // in their order
};

// One value of any of these kinds; None if nothing is given.
class DDP_API Value {
 public:
  // Implicit, so that `dict["epoch"] = 3` does what it says. Integers become int64, floating
  // numbers double, as in Python. Throws ddp::Error for an integer of 2^63 or more.
  Value() = default;
  Value(std::nullptr_t) {}
  template <std::same_as<bool> Bool>  // no pointer
  Value(Bool value) : value_(value) {}
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  Value(Integer number) : value_(detail::as_int64(number)) {}
  template <std::floating_point Float>
  Value(Float number) : value_(static_cast<double>(number)) {}
  Value(std::string text) : value_(std::move(text)) {}
  Value(const char* text) : value_(std::string(text)) {}
  Value(at::Tensor tensor) : value_(std::move(tensor)) {}
  Value(List list) : value_(std::move(list)) {}
  Value(Tuple tuple) : value_(std::move(tuple)) {}
  Value(Dict dict) : value_(std::move(dict)) {}

  // Whether the value is of this kind. A bool is no integer here.
  bool is_none() const { return holds<std::monostate>(); }
  bool is_bool() const { return holds<bool>(); }
  bool is_int() const { return holds<std::int64_t>(); }
  bool is_double() const { return holds<double>(); }
  bool is_string() const { return holds<std::string>(); }
  bool is_tensor() const { return holds<at::Tensor>(); }
  bool is_list() const { return holds<List>(); }
  bool is_tuple() const { return holds<Tuple>(); }
  bool is_dict() const { return holds<Dict>(); }

  // The value as this kind. They throw ddp::Error that says what it is instead.
  bool to_bool() const;
  std::int64_t to_int() const;
  double to_double() const;  // of an integer or a tensor of one element as well
  const std::string& str() const;
  const at::Tensor& tensor() const;
  const List& list() const;
  List& list();
  const std::vector<Value>& tuple() const;
  const Dict& dict() const;
  Dict& dict();

  // The member of a dict. Throws ddp::Error if it is none or has no such key. Writing to a None
  // makes it a dict.
  const Value& operator[](const Key& key) const { return dict().at(key); }
  Value& operator[](const Key& key);

  // What it is, as Python names it: "dict", "int", "Tensor" …
  const char* type_name() const;

 private:
  template <class Kind>
  bool holds() const {
    return std::holds_alternative<Kind>(value_);
  }

  std::variant<std::monostate, bool, std::int64_t, double, std::string, at::Tensor, List, Tuple,
               Dict>
      value_;
};

}  // namespace ddp
