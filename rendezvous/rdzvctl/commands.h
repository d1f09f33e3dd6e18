// What rdzvctl does. Blocking.
#pragma once

#include <memory>

#include "rendezvous/rdzvctl/options.h"

namespace ddprun::guard {
class Token;
}

namespace ddprun::rdzvctl {

// `token` is what the server has to know, null for none. Writes the answer to stdout, what went
// wrong to stderr, and returns the exit code.
int run(const Options& options, const std::shared_ptr<const guard::Token>& token);

}  // namespace ddprun::rdzvctl
