// This process's own sockets: their addresses, by which others know its end of a connection, and
// what has become of its connections.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ddp::detail {

// "[127.0.0.1]:35950" for each IPv4 and IPv6 socket of this process that is bound. Empty where
// /proc cannot be read.
std::vector<std::string> own_socket_addresses();

struct Connection {
  int fd = -1;
  std::uint64_t inode = 0;  // of the socket, for the number may be used again
  std::string peer;         // the other end's address, as above
};

// The IPv4 and IPv6 connections of this process.
std::vector<Connection> own_connections();

// Those of `now` that are not in `before`.
std::vector<Connection> made_since(const std::vector<Connection>& before,
                                   std::vector<Connection> now);

// Whether this process still holds it, whatever the other end has done.
bool is_held(const Connection& connection);

// What has come and what has been acknowledged, in bytes, of those that are still held.
std::uint64_t bytes_moved(const std::vector<Connection>& connections);

// The first such address in a text, or nothing.
std::string address_in(const std::string& text);

// The same with the two bytes of the port exchanged: Gloo writes ports in the order of the network.
std::string with_swapped_port(const std::string& address);

}  // namespace ddp::detail
