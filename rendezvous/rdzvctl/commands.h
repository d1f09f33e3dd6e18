// What rdzvctl does. Blocking.
#pragma once

#include "rendezvous/rdzvctl/ask.h"
#include "rendezvous/rdzvctl/options.h"

namespace ddprun::rdzvctl {

// Writes the answer to stdout, what went
// wrong to stderr, and returns the exit code.
int run(const Options& options, const Keys& keys);

}  // namespace ddprun::rdzvctl
