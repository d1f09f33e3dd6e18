// Writes the members of a roster message as JSON, so that they can be read again. Only the codec
// includes this.
#pragma once

#include <chrono>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/protocol/roster_fields.h"

namespace ddprun::protocol {

// Appends the text in quotes: what is not UTF-8 becomes U+FFFD, and what is over `bytes` is cut
// between characters.
void write_quoted(std::string& out, std::string_view text, std::size_t bytes);

// A Visitor; straight into text, because an assignment of a thousand nodes is written for each
// round. Absent optionals are left out.
class Writer {
 public:
  template <class T>
  using Of = const T;

  // Appends to `out`, which must outlive it.
  explicit Writer(std::string& out) : out_(out) {}

  template <std::integral T>
  void number(std::string_view name, const T& value, int, int) {
    key(name);
    out_ += std::to_string(value);
  }
  template <std::integral T>
  void number(std::string_view name, const std::optional<T>& value, int min, int max) {
    if (value) number(name, *value, min, max);
  }
  void numbers(std::string_view name, const std::vector<int>& values, std::size_t count, int, int);
  // Left out where there is none.
  void some_numbers(std::string_view name, const std::vector<int>& values, std::size_t count,
                    int min, int max) {
    if (!values.empty()) numbers(name, values, count, min, max);
  }
  void id(std::string_view name, std::uint64_t value) { number(name, value, 0, 0); }
  void flag(std::string_view name, bool value);
  void span(std::string_view name, std::chrono::nanoseconds value);
  void span(std::string_view name, const std::optional<std::chrono::nanoseconds>& value) {
    if (value) span(name, *value);
  }
  void text(std::string_view name, const std::string& value, std::size_t bytes);
  void text(std::string_view name, const std::optional<std::string>& value, std::size_t bytes) {
    if (value) text(name, *value, bytes);
  }
  // Control characters become "?", and so does an empty name.
  void name(std::string_view name, const std::string& value, std::size_t bytes);
  void name(std::string_view name, const std::optional<std::string>& value, std::size_t bytes) {
    if (value) this->name(name, *value, bytes);
  }
  // The last `count` of them.
  void texts(std::string_view name, const std::vector<std::string>& values, std::size_t count,
             std::size_t bytes);
  void choice(std::string_view name, Cause::Kind value);
  void value(std::string_view name, const boost::json::value& value);

  template <class T>
  void object(std::string_view name, const T& value) {
    key(name);
    open(value);
  }
  template <class T>
  void object(std::string_view name, const std::optional<T>& value) {
    if (value) object(name, *value);
  }
  template <class T>
  void objects(std::string_view name, const std::vector<T>& values, std::size_t) {
    key(name);
    out_ += '[';
    for (const T& each : values) {
      if (&each != values.data()) out_ += ',';
      open(each);
    }
    out_ += ']';
  }

 private:
  void key(std::string_view name);
  template <class T>
  void open(const T& value) {
    out_ += '{';
    fields(*this, value);
    out_ += '}';
  }

  std::string& out_;
};

}  // namespace ddprun::protocol
