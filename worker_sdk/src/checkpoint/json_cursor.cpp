#include "worker_sdk/src/checkpoint/json_cursor.h"

#include <charconv>
#include <cstdio>
#include <unordered_set>

#include "worker_sdk/src/checkpoint/bad_file.h"

namespace ddp::detail {
namespace {

void append_utf8(std::string& text, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto tail = [&](int shift) { put(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    put(0xf0 | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace

void JsonCursor::fail(const std::string& expected) const {
  const std::string found =
      at_ < text_.size() ? in_quotes(text_.substr(at_, 1)) : "the end of the header";
  throw BadFile("its header is not the JSON of safetensors: at byte " + std::to_string(at_) +
                ": expected " + expected + ", found " + found);
}

void JsonCursor::skip_space() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
    ++at_;
  }
}

bool JsonCursor::accept(char symbol) {
  skip_space();
  if (at_ >= text_.size() || text_[at_] != symbol) return false;
  ++at_;
  return true;
}

void JsonCursor::expect(char symbol) {
  if (!accept(symbol)) fail(in_quotes(std::string_view(&symbol, 1)));
}

void JsonCursor::object(const std::function<void(const std::string& key)>& member) {
  expect('{');
  if (accept('}')) return;
  std::unordered_set<std::string> seen;
  do {
    const std::string key = string();
    if (!seen.insert(key).second) throw BadFile("its header has " + in_quotes(key) + " twice");
    expect(':');
    member(key);
  } while (accept(','));
  expect('}');
}

void JsonCursor::array(const std::function<void()>& element) {
  expect('[');
  if (accept(']')) return;
  do {
    element();
  } while (accept(','));
  expect(']');
}

std::string JsonCursor::string() {
  expect('"');
  std::string result;
  while (at_ < text_.size() && text_[at_] != '"') {
    if (static_cast<unsigned char>(text_[at_]) < 0x20) fail("an escaped control character");
    if (text_[at_] == '\\') {
      ++at_;
      escape(result);
    } else {
      result += text_[at_++];
    }
  }
  if (at_ >= text_.size()) fail("the end of a string");
  ++at_;
  if (!is_utf8(result))
    throw BadFile("its header has text that is not UTF-8: " + in_quotes(result));
  return result;
}

void JsonCursor::escape(std::string& result) {
  constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  const char letter = at_ < text_.size() ? text_[at_] : '\0';
  if (const auto known = kLetters.find(letter); letter != '\0' && known != kLetters.npos) {
    result += kMeanings[known];
    ++at_;
    return;
  }
  if (letter != 'u') fail("an escape that JSON knows");
  ++at_;
  std::uint32_t code = hex4();
  if (code >= 0xd800 && code < 0xdc00) {
    if (text_.substr(at_, 2) != "\\u") fail("the second half of a surrogate pair");
    at_ += 2;
    const std::uint32_t low = hex4();
    if (low < 0xdc00 || low > 0xdfff) fail("the second half of a surrogate pair");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  } else if (code >= 0xdc00 && code < 0xe000) {
    fail("the first half of a surrogate pair");
  }
  append_utf8(result, code);
}

std::uint32_t JsonCursor::hex4() {
  const std::string_view digits = text_.substr(at_, 4);
  std::uint32_t code = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (digits.size() != 4 || read.ptr != digits.data() + 4) fail("four hexadecimal digits");
  at_ += 4;
  return code;
}

std::int64_t JsonCursor::integer() {
  skip_space();
  std::uint64_t number = 0;
  const char* begin = text_.data() + at_;
  const auto read = std::from_chars(begin, text_.data() + text_.size(), number);
  const bool fits = read.ec == std::errc() && number <= 0x7fffffffffffffffu;
  if (!fits || (*begin == '0' && read.ptr != begin + 1)) fail("an integer from 0 to 2^63 - 1");
  at_ += static_cast<std::size_t>(read.ptr - begin);
  return static_cast<std::int64_t>(number);
}

void JsonCursor::end() {
  skip_space();
  if (at_ < text_.size()) fail("the end of the header");
}

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      result += code;
    } else {
      result += c;
    }
  }
  return result + '"';
}

}  // namespace ddp::detail
