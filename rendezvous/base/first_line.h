// The first line of a text.
#pragma once

#include <string>
#include <string_view>

namespace ddprun {

// Without the newline; all of it where there is none.
inline std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace ddprun
