#include "launcher/report/printable.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace ddprun::report {
namespace {

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// Bytes of the escape sequence at the front of `text`, which begins with ESC.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2) return text.size();
  std::size_t i = 2;
  if (text[1] == '[') {  // parameters, then one byte from @ to ~
    while (i < text.size() && !(text[i] >= '@' && text[i] <= '~')) ++i;
    return i < text.size() ? i + 1 : i;
  }
  if (text[1] == ']' || text[1] == 'P' || text[1] == '_' ||
      text[1] == '^') {  // a string up to BEL or ESC backslash
    while (i < text.size() && text[i] != '\a' && text[i] != '\x1b') ++i;
    if (i < text.size() && text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '\\') ++i;
    return i < text.size() ? i + 1 : i;
  }
  while (i < text.size() && text[i - 1] >= ' ' && text[i - 1] <= '/') ++i;  // ESC ( B and the like
  return i;
}

// Bytes of the valid UTF-8 character beyond ASCII at the front of `text`; 0 if there is none. The
// controls from 0x80 to 0x9F count as invalid.
std::size_t long_character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  std::uint32_t code = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return 0;
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0xA0, 0x800, 0x10000};  // 0x80-0x9F are controls
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < kSmallest[length] || surrogate || code > 0x10FFFF ? 0 : length;
}

// Bytes of the valid, printable UTF-8 character at the front of `text`; 0 if there is none.
std::size_t character_length(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  if (byte < 0x80) return byte >= 0x20 && byte != 0x7f ? 1 : 0;
  return long_character_length(text);
}

std::string_view last_state(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  return line.substr(line.rfind('\r') + 1);
}

void append_byte(std::string& out, char byte) {
  char text[5];
  std::snprintf(text, sizeof text, "\\x%02x",
                static_cast<unsigned>(static_cast<unsigned char>(byte)));
  out += text;
}

// The first byte position behind `count` characters.
std::size_t position(std::string_view text, std::size_t count) {
  std::size_t i = 0;
  while (i < text.size() && (count > 0 || is_continuation(text[i]))) {
    if (!is_continuation(text[i])) --count;
    ++i;
    while (i < text.size() && is_continuation(text[i])) ++i;
  }
  return i;
}

}  // namespace

std::string printable(std::string_view line) {
  std::string out;
  for (std::string_view rest = last_state(line); !rest.empty();) {
    std::size_t used = 1;
    if (rest[0] == '\x1b') {
      used = escape_length(rest);
    } else if (rest[0] == '\t') {
      out += "    ";
    } else if (const std::size_t length = character_length(rest); length > 0) {
      used = length;
      out.append(rest.substr(0, length));
    } else {
      append_byte(out, rest[0]);
    }
    rest.remove_prefix(used);
  }
  return out;
}

std::string valid_utf8(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const bool ascii = static_cast<unsigned char>(bytes[0]) < 0x80;
    const std::size_t length = ascii ? 1 : long_character_length(bytes);
    if (length == 0)
      append_byte(out, bytes[0]);
    else
      out.append(bytes.substr(0, length));
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (char byte : text) count += is_continuation(byte) ? 0 : 1;
  return count;
}

std::string shorten(const std::string& text, std::size_t most) {
  constexpr std::string_view kGap = " … ";
  const std::size_t all = columns(text);
  if (all <= most || most < 8) return text;
  const std::size_t back = (most - 3) / 3;
  const std::size_t front = most - 3 - back;
  return text.substr(0, position(text, front)) + std::string(kGap) +
         text.substr(position(text, all - back));
}

}  // namespace ddprun::report
