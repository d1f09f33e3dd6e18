#include "rendezvous/protocol/roster_writer.h"

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "rendezvous/protocol/roster_reader.h"

namespace ddprun::protocol {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool continues(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

// Bytes of the character at the start of `text`; 0 if it is none (RFC 3629: no overlong forms, no
// surrogates, nothing above U+10FFFF).
std::size_t character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if (!continues(text, i)) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool outside = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return overlong || outside ? 0 : size;
}

void put_escaped(std::string& out, char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (c == '"' || c == '\\') {
    out += '\\';
    out += c;
  } else if (static_cast<unsigned char>(c) < 0x20) {
    out += "\\u00";
    out += kDigits[static_cast<std::size_t>(c) >> 4];
    out += kDigits[static_cast<std::size_t>(c) & 15];
  } else {
    out += c;
  }
}

}  // namespace

void write_quoted(std::string& out, std::string_view text, std::size_t bytes) {
  out += '"';
  while (!text.empty()) {
    const std::size_t size = character(text);
    const std::size_t taken = size == 0 ? kReplacement.size() : size;
    if (taken > bytes) break;
    bytes -= taken;
    if (size == 0) {
      out += kReplacement;
    } else if (size == 1) {
      put_escaped(out, text[0]);
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  out += '"';
}

void Writer::numbers(std::string_view name, const std::vector<int>& values, std::size_t count, int,
                     int) {
  key(name);
  out_ += '[';
  for (std::size_t i = 0; i < std::min(count, values.size()); ++i) {
    if (i > 0) out_ += ',';
    out_ += std::to_string(values[i]);
  }
  out_ += ']';
}

void Writer::flag(std::string_view name, bool value) {
  key(name);
  out_ += value ? "true" : "false";
}

void Writer::span(std::string_view name, std::chrono::nanoseconds value) {
  key(name);
  out_ += std::to_string(std::max(value, std::chrono::nanoseconds::zero()).count());
}

void Writer::text(std::string_view name, const std::string& value, std::size_t bytes) {
  key(name);
  write_quoted(out_, value, bytes);
}

void Writer::name(std::string_view name, const std::string& value, std::size_t bytes) {
  std::string printable = value.empty() ? "?" : value;
  std::ranges::replace_if(printable, is_control, '?');
  text(name, printable, bytes);
}

void Writer::texts(std::string_view name, const std::vector<std::string>& values, std::size_t count,
                   std::size_t bytes) {
  key(name);
  out_ += '[';
  const std::size_t first = values.size() - std::min(count, values.size());
  for (std::size_t i = first; i < values.size(); ++i) {
    if (i > first) out_ += ',';
    write_quoted(out_, values[i], bytes);
  }
  out_ += ']';
}

void Writer::choice(std::string_view name, Cause::Kind value) {
  text(name, std::string(cause_name(value)), kMaxName);
}

void Writer::value(std::string_view name, const boost::json::value& value) {
  key(name);
  out_ += boost::json::serialize(value);
}

void Writer::key(std::string_view name) {
  if (out_.back() != '{') out_ += ',';
  out_ += '"';
  out_ += name;
  out_ += "\":";
}

}  // namespace ddprun::protocol
