// How long a line takes from the worker that writes it to the reader of the console.
#pragma once

#include "tests/bench/setup.h"

namespace ddprun::bench {

// Runs `command`, in which a bench worker writes `lines` lines with their time, and reads its
// output through a pipe. Returns the median delay in milliseconds. Throws std::runtime_error when
// the output ends, or pauses for 20 s, before that many lines have come.
double median_line_delay(const Words& command, int lines);

}  // namespace ddprun::bench
