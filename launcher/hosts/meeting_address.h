// Under which address the nodes meet on a host, if nobody says.
#pragma once

#include <string>

namespace ddprun::hosts {

// Digits and dots, or colons.
bool is_literal(const std::string& name);

// "127.…", "::1" or "localhost".
bool is_loopback(const std::string& name);

// Of this host. `name`: what the user calls it; an address is what is meant. `ssh_connection`: the
// variable of that name, whose third word is the address under which this host was reached; names
// in ~/.ssh/config need not mean anything to others. `default_address`: of the interface with the
// default route, may be empty. Pure.
std::string meeting_address(const std::string& name, const std::string& ssh_connection,
                            const std::string& default_address);

}  // namespace ddprun::hosts
