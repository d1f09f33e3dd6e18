#include "launcher/output/prefix.h"

#include <array>

namespace ddprun::output {

bool uses_prefix(int world_size, bool terminal) {
  return world_size > 1 && terminal;
}

bool uses_color(bool terminal, const char* no_color, const char* term) {
  const bool refused = no_color != nullptr && *no_color != '\0';
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  return terminal && !refused && !dumb;
}

std::string make_prefix(int rank, bool color) {
  // Cyan, yellow, green, magenta, blue and their bright forms; red is left to errors.
  static constexpr std::array kColors = {36, 33, 32, 35, 34, 96, 93, 92, 95, 94};
  const std::string label = "[" + std::to_string(rank) + "]";
  if (!color) return label + " ";
  const int code = kColors[static_cast<std::size_t>(rank) % kColors.size()];
  return "\x1b[" + std::to_string(code) + "m" + label + "\x1b[0m ";
}

void append_prefixed(std::string& out, std::string_view prefix, std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t newline = lines.find('\n');
    const std::string_view line = lines.substr(0, newline == lines.npos ? newline : newline + 1);
    out.append(prefix).append(line);
    lines.remove_prefix(line.size());
  }
}

}  // namespace ddprun::output
