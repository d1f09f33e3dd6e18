// What the fuzz targets ask of any answer, and how they cut their input.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/base/printable.h"

namespace ddprun::fuzz {

// Ends the program, and says where, unless `what` is true.
inline void require(bool what, std::source_location here = std::source_location::current()) {
  if (what) return;
  std::fprintf(stderr, "%s:%u: %s does not hold\n", here.file_name(), here.line(),
               here.function_name());
  std::abort();
}

inline std::string_view view_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// The parts between `separator`s; at least one, which may be empty.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// What a user can be shown as one line: something, and nothing that moves the cursor.
inline bool is_one_line(std::string_view text) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; };
  return !text.empty() && std::ranges::none_of(text, control);
}

// Valid UTF-8 without any control character.
inline bool is_printable(std::string_view text) {
  return printable(text) == text;
}

// Cuts `bytes` into pieces of `step` bytes and gives each to `take`.
template <class Take>
void in_pieces(std::string_view bytes, std::size_t step, Take take) {
  for (std::size_t at = 0; at < bytes.size(); at += step) take(bytes.substr(at, step));
}

}  // namespace ddprun::fuzz
