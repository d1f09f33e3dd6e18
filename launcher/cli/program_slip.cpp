#include "launcher/cli/program_slip.h"

#include <array>
#include <cstdio>

namespace ddprun::cli {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";

// U+2010 to U+2015 (hyphens and dashes), U+2212 (minus): what word processors make of `-` and `--`.
bool starts_with_typographic_dash(std::string_view word) {
  if (word.starts_with("\xE2\x88\x92")) return true;
  return word.size() >= 3 && word.starts_with("\xE2\x80") && word[2] >= '\x90' && word[2] <= '\x95';
}

std::string quoted(std::string_view word) {
  return "'" + std::string(word) + "'";
}

}  // namespace

std::optional<std::string> program_slip(std::string_view word) {
  if (word.empty()) return "the name of the program is empty ('')";
  if (starts_with_typographic_dash(word))
    return quoted(word) + " begins with a typographic dash, not with '-'; write '--' in its place";
  const auto first = word.find_first_not_of(kBlanks);
  if (first == std::string_view::npos || word == "\\" || (first > 0 && word[first] == '-'))
    return quoted(word) +
           " stands where the program should: nothing may follow the '\\' that continues a line, "
           "and a new line follows it";
  if (word.ends_with('\r'))
    return quoted(word) + " ends with a carriage return: save the script with Unix line ends";
  return std::nullopt;
}

std::string one_line(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      result += c;
    } else if (c == '\n' || c == '\r' || c == '\t') {
      result += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else {
      std::array<char, 5> code{};
      std::snprintf(code.data(), code.size(), "\\x%02x", static_cast<unsigned>(byte));
      result += code.data();
    }
  }
  return result;
}

}  // namespace ddprun::cli
