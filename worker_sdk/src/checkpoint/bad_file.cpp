#include "worker_sdk/src/checkpoint/bad_file.h"

#include <cstdint>
#include <cstdio>

namespace ddp::detail {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 100;
  std::string result = "'";
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      result += c;
    } else {
      char code[8];
      std::snprintf(code, sizeof code, "\\x%02x", byte);
      result += code;
    }
  }
  return result + (text.size() > kMost ? "…'" : "'");
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const int more = first < 0x80 ? 0 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first >= 0xf8 || (first >= 0x80 && first < 0xc0)) return false;
    if (text.size() - i <= static_cast<std::size_t>(more)) return false;
    std::uint32_t code = more == 0 ? first : first & (0x3fu >> more);
    for (int k = 1; k <= more; ++k) {
      const auto next = static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]);
      if ((next & 0xc0) != 0x80) return false;
      code = code << 6 | (next & 0x3fu);
    }
    constexpr std::uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
    if (code < kLeast[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
    i += static_cast<std::size_t>(more) + 1;
  }
  return true;
}

}  // namespace ddp::detail
