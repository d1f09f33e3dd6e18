// rdzvd's life: listens, serves, hears signals, ends.
#pragma once

#include <memory>

#include "rendezvous/rdzvd/options.h"

namespace ddprun::guard {
class Token;
}

namespace ddprun::rdzvd {

// `token`: what clients have to show; null: nothing. Returns the exit code: 0 after SIGTERM or
// SIGINT, 1 if it could not listen. Writes the real address as the first line of stdout and the log
// to stderr.
int serve(const Options& options, std::shared_ptr<const guard::Token> token);

}  // namespace ddprun::rdzvd
