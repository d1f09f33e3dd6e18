// Strict JSON, as far as the header of a safetensors file needs it: objects, arrays, strings and
// integers from 0 on. Its grammar is known in advance, so no tree is built.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ddp::detail {

// Reads one JSON text from the front. Each function throws BadFile with the place if something else
// comes.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  // { "key": …, … }: `member` is given each key and must read its value. A key that comes twice is
  // an error.
  void object(const std::function<void(const std::string& key)>& member);
  // [ …, … ]: `element` must read each one.
  void array(const std::function<void()>& element);
  // UTF-8, with the escapes resolved.
  std::string string();
  // 0 to 2^63 - 1, without sign, fraction or exponent.
  std::int64_t integer();
  // Only white space may follow.
  void end();

 private:
  [[noreturn]] void fail(const std::string& expected) const;
  void skip_space();
  // Whether `symbol` came, after white space.
  bool accept(char symbol);
  void expect(char symbol);
  void escape(std::string& result);
  std::uint32_t hex4();

  std::string_view text_;
  std::size_t at_ = 0;
};

// "text" in quotes, with what JSON does not allow escaped. `text` is UTF-8.
std::string json_string(std::string_view text);

}  // namespace ddp::detail
