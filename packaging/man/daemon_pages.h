// The manual pages of the rendezvous daemon and its control program, in roff.
#pragma once

#include <string>

namespace ddprun::packaging {

// rdzvd(8), its options from their table.
std::string rdzvd_page();
// rdzvctl(1).
std::string rdzvctl_page();

}  // namespace ddprun::packaging
