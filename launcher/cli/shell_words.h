// Splits a command into words by the rules of the shell, without running one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/base/result.h"

namespace ddprun::cli {

// Blanks separate words; '…' keeps everything, "…" everything but \" \\ \$ \`, and a backslash
// outside quotes the character behind it. `$`, `*`, `;` and the like mean nothing. The Error says
// which quote is not closed. Python counterpart: shlex.split.
Result<std::vector<std::string>> split_words(std::string_view text);

}  // namespace ddprun::cli
