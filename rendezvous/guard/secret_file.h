// Files that only their owner may read.
#pragma once

#include <string>

#include "rendezvous/base/result.h"

namespace ddprun::guard {

// Whether an open file with `what` in it, "the token", is readable for its owner and group alone
// and writable for its owner alone. Error: names the file, its mode and what to do.
Result<void> check_secret(int file, const std::string& name, const std::string& what);

}  // namespace ddprun::guard
