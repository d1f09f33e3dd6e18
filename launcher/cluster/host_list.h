// Slurm's short form of many host names: "gpu[01-04,07],login1".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/base/result.h"

namespace ddprun::cluster {

// A list that stands for more is refused before memory is spent on it.
inline constexpr std::size_t kMostHosts = 65'536;

// The names in their order. A name may have several brackets, and text behind them; a range keeps
// the width of its first number (`[08-11]` is 08, 09, 10, 11). An Error that shows the part which
// is wrong: unbalanced or nested brackets, an empty name or item, a range that runs backwards, more
// than kMostHosts names.
Result<std::vector<std::string>> read_host_list(std::string_view text);

}  // namespace ddprun::cluster
