// Reads the members of a roster message out of a JSON object and checks them. Only the codec
// includes this.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rendezvous/protocol/roster_fields.h"

namespace ddprun::protocol {

// "an object", "the number 1.5", "a string", …: what was found where something else is needed.
std::string found(const boost::json::value& value);

// Nothing if there is no kind of that name.
std::optional<Cause::Kind> cause_kind(std::string_view name);
std::string_view cause_name(Cause::Kind kind);

// A Visitor. The first mistake stays in error(); what comes after it is not looked at.
class Reader {
 public:
  template <class T>
  using Of = T;

  // `where` is how a mistake begins: "join", "assignment.nodes[3]".
  Reader(const boost::json::object& object, std::string where)
      : object_(object), where_(std::move(where)) {}

  const std::string& error() const { return error_; }

  template <std::integral T>
  void number(std::string_view name, T& out, int min, int max) {
    if (const auto* value = required(name)) read_number(name, *value, out, min, max);
  }
  template <std::integral T>
  void number(std::string_view name, std::optional<T>& out, int min, int max) {
    if (const auto* value = given(name)) read_number(name, *value, out.emplace(), min, max);
  }
  void numbers(std::string_view name, std::vector<int>& out, std::size_t count, int min, int max);
  // Need not be there.
  void some_numbers(std::string_view name, std::vector<int>& out, std::size_t count, int min,
                    int max) {
    if (given(name) != nullptr) numbers(name, out, count, min, max);
  }
  void id(std::string_view name, std::uint64_t& out);
  void flag(std::string_view name, bool& out);
  void span(std::string_view name, std::chrono::nanoseconds& out);
  void span(std::string_view name, std::optional<std::chrono::nanoseconds>& out);
  void text(std::string_view name, std::string& out, std::size_t bytes);
  void text(std::string_view name, std::optional<std::string>& out, std::size_t bytes);
  // At least one byte, no control characters.
  void name(std::string_view name, std::string& out, std::size_t bytes);
  void name(std::string_view name, std::optional<std::string>& out, std::size_t bytes);
  void texts(std::string_view name, std::vector<std::string>& out, std::size_t count,
             std::size_t bytes);
  void choice(std::string_view name, Cause::Kind& out);
  void value(std::string_view name, boost::json::value& out);

  template <class T>
  void object(std::string_view name, T& out) {
    if (const auto* value = required(name)) read_object(name, *value, out);
  }
  template <class T>
  void object(std::string_view name, std::optional<T>& out) {
    if (const auto* value = given(name)) read_object(name, *value, out.emplace());
  }
  template <class T>
  void objects(std::string_view name, std::vector<T>& out, std::size_t count) {
    const boost::json::array* values = array(name, count);
    if (values == nullptr) return;
    out.resize(values->size());
    for (std::size_t i = 0; i < out.size() && error_.empty(); ++i)
      read_object(std::string(name) + "[" + std::to_string(i) + "]", (*values)[i], out[i]);
  }

 private:
  // The member, or nullptr when there is none, or null, or an earlier mistake.
  const boost::json::value* given(std::string_view name) const;
  const boost::json::value* required(std::string_view name);
  const boost::json::array* array(std::string_view name, std::size_t count);
  std::optional<std::int64_t> integer(std::string_view name, const boost::json::value& value,
                                      std::int64_t min, std::int64_t max);
  void read_text(std::string_view name, const boost::json::value& value, std::string& out,
                 std::size_t bytes);
  void read_name(std::string_view name, const boost::json::value& value, std::string& out,
                 std::size_t bytes);
  void fail(std::string_view name, std::string what);

  template <std::integral T>
  void read_number(std::string_view name, const boost::json::value& value, T& out, int min,
                   int max) {
    if (const auto number = integer(name, value, min, max)) out = static_cast<T>(*number);
  }
  template <class T>
  void read_object(std::string_view name, const boost::json::value& value, T& out) {
    if (!value.is_object()) return fail(name, "is " + found(value) + ", an object is needed");
    Reader inner(value.get_object(), where_ + "." + std::string(name));
    fields(inner, out);
    if (error_.empty()) error_ = inner.error();
  }

  const boost::json::object& object_;
  std::string where_;
  std::string error_;
};

}  // namespace ddprun::protocol
