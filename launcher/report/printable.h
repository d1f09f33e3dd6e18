// What workers wrote, made safe for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ddprun::report {

// One line as a terminal would show it in the end: what a '\r' has overwritten is left out, so a
// progress bar shows its last state; escape sequences (colours, cursor movements, titles) are left
// out; a tab is four spaces; every other control character and every byte that is not UTF-8 is
// shown as \xNN. The result is valid UTF-8.
std::string printable(std::string_view line);

// Columns that valid UTF-8 takes, with every character as one.
std::size_t columns(std::string_view text);

// `text` if it has at most `most` columns; else its beginning and its end with " … " between, so
// that neither a message in front nor one behind a long dump is lost.
std::string shorten(const std::string& text, std::size_t most);

}  // namespace ddprun::report
