// The version of ddprun, set in one place: the project() line of the top CMakeLists.txt.
#pragma once

#include <string_view>

namespace ddprun::cli {

// "X.Y.Z", as in `ddprun --version` and DDPRUN_VERSION.
std::string_view version();

}  // namespace ddprun::cli
