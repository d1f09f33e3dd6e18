#include "ddp/value.h"

#include <array>

#include "ddp/error.h"
#include "worker_sdk/src/checkpoint/bad_file.h"
#include "worker_sdk/src/worker_environment.h"

namespace ddp {
namespace {

[[noreturn]] void fail(const std::string& text) {
  throw Error(detail::rank_if_known(detail::process_environment()), text);
}

[[noreturn]] void wrong_kind(const char* expected, const char* found) {
  fail(std::string("expected a value of the type ") + expected + ", found " + found);
}

// A few of the keys, for a message.
std::string shown_keys(const Dict& dict) {
  constexpr int kMost = 10;
  std::string text;
  int shown = 0;
  for (const auto& [key, value] : dict) {
    if (shown++ == kMost) return text + " and " + std::to_string(dict.size() - kMost) + " more";
    text += (text.empty() ? "" : ", ") + key.repr();
  }
  return text.empty() ? "none" : text;
}

}  // namespace

void detail::refuse_integer(std::uint64_t number) {
  fail("a value cannot be the integer " + std::to_string(number) +
       ": the largest is 9223372036854775807; make it a text");
}

const std::string& Key::str() const {
  if (const auto* text = std::get_if<std::string>(&key_)) return *text;
  fail("expected a key that is a string, found " + repr());
}

std::int64_t Key::number() const {
  if (const auto* number = std::get_if<std::int64_t>(&key_)) return *number;
  fail("expected a key that is an integer, found " + repr());
}

std::string Key::repr() const {
  if (const auto* text = std::get_if<std::string>(&key_)) return detail::in_quotes(*text);
  return std::to_string(std::get<std::int64_t>(key_));
}

Dict::Dict() = default;
Dict::Dict(const Dict& other) = default;
Dict::Dict(Dict&& other) noexcept = default;
Dict& Dict::operator=(const Dict& other) = default;
Dict& Dict::operator=(Dict&& other) noexcept = default;
Dict::~Dict() = default;

Dict::Dict(std::initializer_list<Item> items) {
  for (const auto& [key, value] : items) (*this)[key] = value;
}

std::size_t Dict::size() const {
  return items_.size();
}

const Value* Dict::find(const Key& key) const {
  const auto place = places_.find(key);
  return place == places_.end() ? nullptr : &items_[place->second].second;
}

Value* Dict::find(const Key& key) {
  return const_cast<Value*>(std::as_const(*this).find(key));
}

Value& Dict::operator[](const Key& key) {
  const auto [place, is_new] = places_.emplace(key, items_.size());
  if (is_new) items_.emplace_back(key, Value());
  return items_[place->second].second;
}

const Value& Dict::at(const Key& key) const {
  const Value* value = find(key);
  if (value == nullptr) fail("there is no " + key.repr() + "; the keys are " + shown_keys(*this));
  return *value;
}

bool Dict::erase(const Key& key) {
  const auto place = places_.find(key);
  if (place == places_.end()) return false;
  items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(place->second));
  places_.clear();
  for (std::size_t i = 0; i < items_.size(); ++i) places_.emplace(items_[i].first, i);
  return true;
}

std::vector<Dict::Item>::const_iterator Dict::begin() const {
  return items_.begin();
}
std::vector<Dict::Item>::const_iterator Dict::end() const {
  return items_.end();
}

const char* Value::type_name() const {
  constexpr std::array<const char*, 9> kNames{"None",   "bool", "int",   "float", "str",
                                              "Tensor", "list", "tuple", "dict"};
  return kNames[value_.index()];
}

bool Value::to_bool() const {
  if (const auto* value = std::get_if<bool>(&value_)) return *value;
  wrong_kind("bool", type_name());
}

std::int64_t Value::to_int() const {
  if (const auto* number = std::get_if<std::int64_t>(&value_)) return *number;
  wrong_kind("int", type_name());
}

double Value::to_double() const {
  if (const auto* number = std::get_if<double>(&value_)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*number);
  const auto* tensor = std::get_if<at::Tensor>(&value_);
  if (tensor != nullptr && tensor->defined() && tensor->numel() == 1 && !tensor->is_complex()) {
    return tensor->item().toDouble();
  }
  wrong_kind("float", type_name());
}

const std::string& Value::str() const {
  if (const auto* text = std::get_if<std::string>(&value_)) return *text;
  wrong_kind("str", type_name());
}

const at::Tensor& Value::tensor() const {
  if (const auto* tensor = std::get_if<at::Tensor>(&value_)) return *tensor;
  wrong_kind("Tensor", type_name());
}

const List& Value::list() const {
  if (const auto* list = std::get_if<List>(&value_)) return *list;
  wrong_kind("list", type_name());
}
List& Value::list() {
  return const_cast<List&>(std::as_const(*this).list());
}

const std::vector<Value>& Value::tuple() const {
  if (const auto* tuple = std::get_if<Tuple>(&value_)) return tuple->items;
  wrong_kind("tuple", type_name());
}

const Dict& Value::dict() const {
  if (const auto* dict = std::get_if<Dict>(&value_)) return *dict;
  wrong_kind("dict", type_name());
}
Dict& Value::dict() {
  return const_cast<Dict&>(std::as_const(*this).dict());
}

Value& Value::operator[](const Key& key) {
  if (is_none()) value_ = Dict();
  return dict()[key];
}

}  // namespace ddp
