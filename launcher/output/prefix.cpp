#include "launcher/output/prefix.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <optional>

namespace ddprun::output {
namespace {

constexpr std::string_view kTime = "time";

std::optional<std::string> value_of(std::string_view name, const PrefixFields& fields) {
  if (name == "rank") return std::to_string(fields.rank);
  if (name == "local_rank") return std::to_string(fields.local_rank);
  if (name == "attempt") return std::to_string(fields.attempt);
  if (name == "role_name") return fields.role_name;
  if (name == "hostname") return fields.hostname;
  if (name == "stream") return fields.stream;
  return {};
}

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// A `$` and what belongs to it at the beginning of `text`: "${name}", "$name", "$$" or "$".
struct Field {
  std::string_view written;
  std::string_view name;  // "$" for "$$"
};

Field read_field(std::string_view text) {
  if (text.starts_with("$$")) return {text.substr(0, 2), "$"};
  if (text.starts_with("${")) {
    const std::size_t close = text.find('}');
    if (close != text.npos) return {text.substr(0, close + 1), text.substr(2, close - 2)};
  }
  std::size_t end = 1;
  while (end < text.size() && is_name_char(text[end])) ++end;
  return {text.substr(0, end), text.substr(1, end - 1)};
}

std::vector<std::string> fill_in(std::string_view text, const PrefixFields& fields) {
  std::vector<std::string> pieces(1);
  while (!text.empty()) {
    const std::size_t dollar = std::min(text.find('$'), text.size());
    pieces.back().append(text.substr(0, dollar));
    text.remove_prefix(dollar);
    if (text.empty()) break;
    const Field field = read_field(text);
    text.remove_prefix(field.written.size());
    if (field.name == kTime)
      pieces.emplace_back();
    else if (field.name == "$")
      pieces.back() += '$';
    else
      pieces.back() += value_of(field.name, fields).value_or(std::string(field.written));
  }
  return pieces;
}

}  // namespace

bool uses_prefix(int world_size, bool terminal, bool asked) {
  return asked || (world_size > 1 && terminal);
}

bool uses_color(cli::ColorChoice choice, bool terminal, const char* no_color, const char* term) {
  if (choice != cli::ColorChoice::automatic) return choice == cli::ColorChoice::always;
  const bool refused = no_color != nullptr && *no_color != '\0';
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  return terminal && !refused && !dumb;
}

std::string color_of(int rank) {
  // Cyan, yellow, green, magenta, blue and their bright forms; red is left to errors.
  static constexpr std::array kColors = {36, 33, 32, 35, 34, 96, 93, 92, 95, 94};
  return "\x1b[" + std::to_string(kColors[static_cast<std::size_t>(rank) % kColors.size()]) + "m";
}

Prefix::Prefix(std::string_view text, const PrefixFields& fields, const std::string& color) {
  if (text.empty()) return;
  pieces_ = fill_in(text, fields);
  if (!color.empty()) {
    std::string& last = pieces_.back();
    pieces_.front().insert(0, color);
    last.insert(last.find_last_not_of(' ') + 1, "\x1b[0m");
  }
  text_ = pieces_.front();
}

const std::string& Prefix::text(std::string_view time) {
  if (!has_time()) return text_;
  text_ = pieces_.front();
  for (std::size_t i = 1; i < pieces_.size(); ++i) text_.append(time).append(pieces_[i]);
  return text_;
}

std::string time_text(std::chrono::system_clock::time_point now) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto whole = std::chrono::floor<std::chrono::seconds>(now);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - whole).count();
  std::tm local{};
  ::localtime_r(&seconds, &local);
  char text[32];
  std::snprintf(text, sizeof text, "%02d:%02d:%02d.%03d", local.tm_hour, local.tm_min, local.tm_sec,
                static_cast<int>(ms));
  return text;
}

// With short lines most of the time of a tee goes by here, so room is made for many lines at once.
void append_prefixed(std::string& out, std::string_view prefix, std::string_view lines) {
  std::size_t used = out.size();
  out.resize(used + lines.size() + 4096);
  while (!lines.empty()) {
    const void* newline = std::memchr(lines.data(), '\n', lines.size());
    const std::size_t length =
        newline == nullptr
            ? lines.size()
            : static_cast<std::size_t>(static_cast<const char*>(newline) - lines.data()) + 1;
    if (out.size() - used < prefix.size() + lines.size())
      out.resize(used + lines.size() + std::max(lines.size(), prefix.size()) + 4096);
    char* at = out.data() + used;
    std::memcpy(at, prefix.data(), prefix.size());
    std::memcpy(at + prefix.size(), lines.data(), length);
    used += prefix.size() + length;
    lines.remove_prefix(length);
  }
  out.resize(used);
}

}  // namespace ddprun::output
