// A word that stands where PROGRAM does because of a slip in the line before it: an option pasted
// with a typographic dash, or a blank behind the backslash that should have continued the line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ddprun::cli {

// What is wrong with `word` as PROGRAM, in one line; nothing where it may be one. A program that
// really has such a name stands behind `--`.
std::optional<std::string> program_slip(std::string_view word);

// `text` with control characters written as \n, \r, \t or \xNN, so that a message stays one line.
std::string one_line(std::string_view text);

}  // namespace ddprun::cli
