#include "launcher/output/progress_bar.h"

#include <algorithm>
#include <utility>

namespace ddprun::output {
namespace {

constexpr char kEscape = '\x1b';

// The length of the escape sequence at the beginning of `text`, 0 where there is none. Only CSI
// sequences ("\x1b[…m") matter here; of others the escape itself is one.
std::size_t escape_length(std::string_view text) {
  if (text.empty() || text.front() != kEscape) return 0;
  if (text.size() < 2 || text[1] != '[') return 1;
  std::size_t end = 2;
  while (end < text.size() && (text[end] < '@' || text[end] > '~')) ++end;
  return std::min(end + 1, text.size());
}

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

}  // namespace

std::string visible_part(std::string_view line) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  line.remove_prefix(line.rfind('\r') + 1);  // npos + 1 is 0
  std::string seen;
  while (!line.empty()) {
    const std::size_t escape = escape_length(line);
    const std::size_t length = escape == 0 ? std::min(line.find(kEscape), line.size()) : escape;
    if (escape == 0 || line[escape - 1] == 'm') seen.append(line.substr(0, length));
    line.remove_prefix(length);
  }
  return seen;
}

std::string visible_lines(std::string_view lines) {
  std::string seen;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    if (line.find('\r') == line.npos)
      seen.append(line);
    else
      seen.append(visible_part(line));
    seen += '\n';
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return seen;
}

std::string clip(std::string_view text, std::size_t columns) {
  std::string clipped;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t escape = escape_length(text);
    if (escape == 0 && begins_character(text.front()) && ++used > columns) {
      text.remove_prefix(1);
      while (!text.empty() && !begins_character(text.front())) text.remove_prefix(1);
      continue;
    }
    const std::size_t length = escape == 0 ? 1 : escape;
    clipped.append(text.substr(0, length));
    text.remove_prefix(length);
  }
  return clipped;
}

void Bars::set(int stream, std::string bar) {
  if (bar.empty())
    bars_.erase(stream);
  else
    bars_[stream] = std::move(bar);
}

const std::string& Bars::shown() const {
  static const std::string kNone;
  return bars_.empty() ? kNone : bars_.begin()->second;
}

}  // namespace ddprun::output
