// The addresses of this machine.
#pragma once

#include <string>
#include <vector>

namespace ddprun::agent {

// One address of one interface.
struct Interface {
  std::string name;     // "eth0"
  std::string address;  // a literal
};

// All interfaces that are up, loopback included, without link-local IPv6 addresses; in the kernel's
// order.
std::vector<Interface> interfaces();
// The address that this host has for the world outside; empty without a default route.
std::string default_address();

// The addresses of all of them.
std::vector<std::string> addresses_of(const std::vector<Interface>& all);
// By which other hosts may find this one, the likeliest first: the default address, then the others
// without loopback and without the inner networks of containers and virtual machines (docker0,
// virbr0), which every host has under the same address. Empty where nothing is left. Pure.
std::vector<std::string> addresses_for_others(const std::vector<Interface>& all,
                                              const std::string& default_address);

}  // namespace ddprun::agent
