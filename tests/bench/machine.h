// Names the machine and the programs that figures were measured with.
#pragma once

#include "tests/bench/setup.h"
#include "tests/bench/table.h"

namespace ddprun::bench {

// Date, processor, memory, kernel, load before the start, versions.
Facts facts_of(const Setup& setup, int rounds);

}  // namespace ddprun::bench
