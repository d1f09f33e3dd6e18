// The version of ddprun: rendezvous/base/version.h.
#pragma once

#include <string_view>

namespace ddprun::cli {

// "X.Y.Z", as in `ddprun --version` and DDPRUN_VERSION.
std::string_view version();

}  // namespace ddprun::cli
