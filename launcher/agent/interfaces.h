// The addresses of this machine.
#pragma once

#include <string>
#include <vector>

namespace ddprun::agent {

// Literals of all interfaces that are up, loopback included, without link-local IPv6 ones; in the
// kernel's order.
std::vector<std::string> interface_addresses();

}  // namespace ddprun::agent
