// Which address a rendezvous server binds for the host that a user gave.
#pragma once

#include <string>
#include <vector>

#include "rendezvous/base/result.h"

namespace ddprun::server {

struct ListenAddress {
  std::string address;  // a literal; empty: all addresses
  std::string note;     // what the user should know about the choice, one line; mostly empty
};

// Pure. `host` is what the user gave and `addresses` what it resolves to, literals in the
// resolver's order. A literal is bound as it is, and "localhost" is loopback. Any other name that
// resolves to loopback on its own host, as /etc/hosts often has it, is no wish for loopback where
// nodes of other hosts are to come (`many_hosts`): then all addresses are meant, and the note says
// so.
ListenAddress choose_listen_address(const std::string& host,
                                    const std::vector<std::string>& addresses, bool many_hosts);

// The same with the addresses of the system's resolver, which may block. An empty host: all
// addresses. Error: the name does not resolve.
Result<ListenAddress> find_listen_address(const std::string& host, bool many_hosts);

}  // namespace ddprun::server
