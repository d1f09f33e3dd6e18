// Who holds a TCP port of this machine, as far as /proc tells.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddprun::server {

// Inodes of the sockets that are bound to local `port`, read from `table`, the text of
// /proc/net/tcp or tcp6: listening ones first. Lines that cannot be read are skipped.
std::vector<std::uint64_t> sockets_on_port(std::string_view table, std::uint16_t port);

// "pid 4242 (python train.py)", or why nobody can be named: a socket of another user or container
// cannot be seen. Reads every process's descriptor folder that it may: for error messages only.
std::string describe_port_holder(std::uint16_t port);

}  // namespace ddprun::server
