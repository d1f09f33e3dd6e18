// The addresses of this process's own sockets, by which others know its end of a connection.
#pragma once

#include <string>
#include <vector>

namespace ddp::detail {

// "[127.0.0.1]:35950" for each IPv4 and IPv6 socket of this process that is bound. Empty where
// /proc cannot be read.
std::vector<std::string> own_socket_addresses();

// The first such address in a text, or nothing.
std::string address_in(const std::string& text);

// The same with the two bytes of the port exchanged: Gloo writes ports in the order of the network.
std::string with_swapped_port(const std::string& address);

}  // namespace ddp::detail
