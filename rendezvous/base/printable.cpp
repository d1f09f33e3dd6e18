#include "rendezvous/base/printable.h"

#include <algorithm>
#include <cstdint>

namespace ddprun {
namespace {

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
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

void append_byte(std::string& out, char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  out += "\\x";
  out += kDigits[value >> 4];
  out += kDigits[value & 15];
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length > 0) {
      out.append(text.substr(0, length));
    } else if (text[0] == '\t') {
      out += "    ";
    } else {
      append_byte(out, text[0]);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
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

}  // namespace ddprun
