#include "launcher/report/printable.h"

#include <algorithm>

#include "rendezvous/base/printable.h"

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

std::string_view last_state(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  return line.substr(line.rfind('\r') + 1);
}

std::string without_escapes(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find('\x1b'), text.size());
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (!text.empty()) text.remove_prefix(escape_length(text));
  }
  return out;
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
  return ddprun::printable(without_escapes(last_state(line)));
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
