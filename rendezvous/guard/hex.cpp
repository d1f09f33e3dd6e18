#include "rendezvous/guard/hex.h"

namespace ddprun::guard {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

std::string to_hex(std::string_view bytes) {
  std::string digits;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    digits += kDigits[byte >> 4];
    digits += kDigits[byte & 15];
  }
  return digits;
}

std::optional<std::string> from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return {};
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const std::size_t high = kDigits.find(digits[i]);
    const std::size_t low = kDigits.find(digits[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return {};
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

}  // namespace ddprun::guard
