#include "rendezvous/protocol/roster_reader.h"

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>

namespace ddprun::protocol {
namespace {

constexpr std::array kCauseNames{
    std::pair{Cause::Kind::worker_failed, std::string_view("worker_failed")},
    std::pair{Cause::Kind::node_lost, std::string_view("node_lost")},
    std::pair{Cause::Kind::node_left, std::string_view("node_left")},
    std::pair{Cause::Kind::node_joined, std::string_view("node_joined")},
    std::pair{Cause::Kind::cancelled, std::string_view("cancelled")},
    std::pair{Cause::Kind::timed_out, std::string_view("timed_out")},
    std::pair{Cause::Kind::misused, std::string_view("misused")},
};

constexpr std::int64_t kLongestSpan = std::int64_t{10} * 366 * 86400 * 1'000'000'000;

}  // namespace

std::string found(const boost::json::value& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  if (value.is_string()) return "a string";
  if (value.is_null()) return "null";
  return boost::json::serialize(value);
}

std::optional<Cause::Kind> cause_kind(std::string_view name) {
  const auto* it =
      std::ranges::find(kCauseNames, name, [](const auto& each) { return each.second; });
  return it == kCauseNames.end() ? std::nullopt : std::optional(it->first);
}

std::string_view cause_name(Cause::Kind kind) {
  return std::ranges::find(kCauseNames, kind, [](const auto& each) { return each.first; })->second;
}

void Reader::numbers(std::string_view name, std::vector<int>& out, std::size_t count, int min,
                     int max) {
  const boost::json::array* values = array(name, count);
  if (values == nullptr) return;
  for (const boost::json::value& each : *values) {
    const auto number = integer(name, each, min, max);
    if (!number) return;
    out.push_back(static_cast<int>(*number));
  }
}

void Reader::id(std::string_view name, std::uint64_t& out) {
  const auto* value = required(name);
  if (value == nullptr) return;
  const auto number = integer(name, *value, 0, std::numeric_limits<std::int64_t>::max());
  if (number) out = static_cast<std::uint64_t>(*number);
}

void Reader::flag(std::string_view name, bool& out) {
  const auto* value = required(name);
  if (value == nullptr) return;
  if (!value->is_bool()) return fail(name, "is " + found(*value) + ", true or false is needed");
  out = value->get_bool();
}

void Reader::span(std::string_view name, std::chrono::nanoseconds& out) {
  const auto* value = required(name);
  if (value == nullptr) return;
  if (const auto number = integer(name, *value, 0, kLongestSpan))
    out = std::chrono::nanoseconds(*number);
}

void Reader::span(std::string_view name, std::optional<std::chrono::nanoseconds>& out) {
  if (given(name) != nullptr) span(name, out.emplace());
}

void Reader::text(std::string_view name, std::string& out, std::size_t bytes) {
  if (const auto* value = required(name)) read_text(name, *value, out, bytes);
}

void Reader::text(std::string_view name, std::optional<std::string>& out, std::size_t bytes) {
  if (const auto* value = given(name)) read_text(name, *value, out.emplace(), bytes);
}

void Reader::name(std::string_view name, std::string& out, std::size_t bytes) {
  if (const auto* value = required(name)) read_name(name, *value, out, bytes);
}

void Reader::name(std::string_view name, std::optional<std::string>& out, std::size_t bytes) {
  if (const auto* value = given(name)) read_name(name, *value, out.emplace(), bytes);
}

void Reader::texts(std::string_view name, std::vector<std::string>& out, std::size_t count,
                   std::size_t bytes) {
  const boost::json::array* values = array(name, count);
  if (values == nullptr) return;
  for (const boost::json::value& each : *values) {
    read_text(name, each, out.emplace_back(), bytes);
    if (!error_.empty()) return;
  }
}

void Reader::choice(std::string_view name, Cause::Kind& out) {
  std::string word;
  text(name, word, kMaxName);
  if (!error_.empty()) return;
  const auto kind = cause_kind(word);
  if (!kind) return fail(name, "is \"" + word + "\", which this version does not know");
  out = *kind;
}

void Reader::value(std::string_view name, boost::json::value& out) {
  if (const auto* value = required(name)) out = boost::json::value(*value, out.storage());
}

const boost::json::value* Reader::given(std::string_view name) const {
  if (!error_.empty()) return nullptr;
  const boost::json::value* value = object_.if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

const boost::json::value* Reader::required(std::string_view name) {
  const boost::json::value* value = given(name);
  if (value == nullptr && error_.empty()) fail(name, "is missing");
  return value;
}

const boost::json::array* Reader::array(std::string_view name, std::size_t count) {
  const auto* value = required(name);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) {
    fail(name, "is " + found(*value) + ", an array is needed");
    return nullptr;
  }
  if (value->get_array().size() > count) {
    fail(name, "has " + std::to_string(value->get_array().size()) + " elements, at most " +
                   std::to_string(count) + " are allowed");
    return nullptr;
  }
  return &value->get_array();
}

std::optional<std::int64_t> Reader::integer(std::string_view name, const boost::json::value& value,
                                            std::int64_t min, std::int64_t max) {
  const bool whole = value.is_int64() && value.get_int64() >= min && value.get_int64() <= max;
  if (whole) return value.get_int64();
  fail(name, "is " + found(value) + ", an integer from " + std::to_string(min) + " to " +
                 std::to_string(max) + " is needed");
  return {};
}

void Reader::read_text(std::string_view name, const boost::json::value& value, std::string& out,
                       std::size_t bytes) {
  if (!value.is_string()) return fail(name, "is " + found(value) + ", a string is needed");
  const boost::json::string& text = value.get_string();
  if (text.size() > bytes) {
    return fail(name, "has " + std::to_string(text.size()) + " bytes, at most " +
                          std::to_string(bytes) + " are allowed");
  }
  out.assign(text.data(), text.size());
}

void Reader::read_name(std::string_view name, const boost::json::value& value, std::string& out,
                       std::size_t bytes) {
  read_text(name, value, out, bytes);
  if (!error_.empty()) return;
  if (out.empty()) return fail(name, "is empty");
  if (std::ranges::any_of(out, is_control)) fail(name, "has a control character in it");
}

void Reader::fail(std::string_view name, std::string what) {
  if (error_.empty()) error_ = where_ + ": \"" + std::string(name) + "\" " + std::move(what);
}

}  // namespace ddprun::protocol
