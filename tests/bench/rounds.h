// Runs the probes of all blocks in interleaved rounds.
#pragma once

#include <vector>

#include "tests/bench/measurement.h"

namespace ddprun::bench {

// Measures every probe that is not missing, `rounds` times or its own `most_rounds`. The blocks of
// a round come in random order and so do the probes of a block, so that neither drift nor a warm
// cache favours one of them. Says on stderr which round runs when that is a terminal. A probe that
// throws has failed and is left out from then on, its earlier figures included. Returns whether
// none has.
bool measure(std::vector<Block>& blocks, int rounds);

}  // namespace ddprun::bench
