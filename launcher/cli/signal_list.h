// --signals-to-handle: names and numbers of signals.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/base/result.h"

namespace ddprun::cli {

// Signals separated by commas, each as SIGTERM, TERM (in any case) or 15, in their order, each
// once. Blanks around a name are ignored. Signals that cannot be caught, that ddprun needs for
// itself or that report a fault of its own are errors, and so is an unknown name.
Result<std::vector<int>> read_signals(std::string_view text);

// "SIGTERM,SIGINT" for the numbers of the two: what TORCHELASTIC_SIGNALS_TO_HANDLE says.
std::string signal_list_text(const std::vector<int>& signals);

}  // namespace ddprun::cli
