// Opens the listening socket of a server.
#pragma once

#include <cstdint>
#include <string>

#include "rendezvous/base/result.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::server {

struct Listener {
  UniqueFd socket;         // listening, non-blocking, not inherited by programs that are started
  std::uint16_t port = 0;  // the real one
  std::string address;     // the real one, a literal; "0.0.0.0" or "::" for all
};

// Takes a socket that listens already, and makes it as open_listener's. Error: it is no listening
// TCP socket.
Result<Listener> adopt_listener(UniqueFd socket);

// Listens on exactly `address`, an IPv4 or IPv6 literal; empty means all addresses of both families
// (of IPv4 alone where the kernel has no IPv6). Port 0 lets the system choose. No names are looked
// up. A port whose old connections linger can be used again at once; one that somebody listens on
// cannot. The error for a taken port names its holder and ends with `port_advice`.
Result<Listener> open_listener(const std::string& address, std::uint16_t port,
                               const std::string& port_advice);

}  // namespace ddprun::server
