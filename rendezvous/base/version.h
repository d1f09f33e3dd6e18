// The version of ddprun, rdzvd and rdzvctl, set in one place: the project() line of the top
// CMakeLists.txt.
#pragma once

#include <string_view>

namespace ddprun {

// "X.Y.Z".
std::string_view version();

}  // namespace ddprun
