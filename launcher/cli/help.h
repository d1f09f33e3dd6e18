// What `ddprun --help` prints, made from the option table.
#pragma once

#include <string>

namespace ddprun::cli {

// Ends with a newline; no line is longer than 80 columns. The last lines are the underscore
// spellings, because scripts look for them with grep.
std::string help_text();

}  // namespace ddprun::cli
