// Counts system calls with strace. A count does not depend on how busy the machine is.
#pragma once

#include <string>

#include "tests/bench/setup.h"

namespace ddprun::bench {

// Why they cannot be counted here; empty when they can.
std::string why_no_system_calls();

// How many calls a launcher makes for each worker: the difference between two of its commands,
// divided by the `more` workers that the second one starts. A worker's own calls count up to its
// execve.
double calls_per_worker(const Words& few, const Words& many, int more);

}  // namespace ddprun::bench
