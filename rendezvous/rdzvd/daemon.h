// rdzvd's life: listens, serves, hears signals, ends.
#pragma once

#include "rendezvous/rdzvd/options.h"

namespace ddprun::rdzvd {

// Returns the exit code: 0 after SIGTERM or SIGINT, 1 if it could not listen. Writes the real
// address as the first line of stdout and the log to stderr.
int serve(const Options& options);

}  // namespace ddprun::rdzvd
