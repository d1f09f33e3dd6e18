// Text from elsewhere, made safe for a terminal or a log.
#pragma once

#include <string>
#include <string_view>

namespace ddprun {

// One line of text in which nothing is left that a terminal or a reader of logs would obey: a tab
// is four spaces; every other control character (ESC, newlines and the ones from U+0080 to U+009F
// included) and every byte that is not UTF-8 is shown as \xNN. The result is valid UTF-8.
std::string printable(std::string_view text);

// The bytes as they are, but for those that are not UTF-8 and the controls from U+0080 to U+009F,
// which become \xNN. For JSON, which escapes the rest itself.
std::string valid_utf8(std::string_view bytes);

}  // namespace ddprun
