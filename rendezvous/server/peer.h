// The other end of a connection, in words.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>

namespace ddprun::server {

// "10.0.0.2:4711" or "[fd00::2]:4711"; an IPv4 address that came to an IPv6 socket is shown as what
// it is.
std::string to_text(const boost::asio::ip::tcp::endpoint& peer);

// The address alone, without brackets and without the name of an interface.
std::string address_text(const boost::asio::ip::tcp::endpoint& peer);
// What limits count as one peer: "10.0.0.2", and with IPv6 the network of 64 bits, all of which one
// host may have: "fd00:0:0:1::/64".
std::string network_text(const boost::asio::ip::tcp::endpoint& peer);
// An address literal in the same form as address_text; as it is if it is none.
std::string plain_address_text(const std::string& literal);

// Whether the peer is on this host, as far as its address tells.
bool is_loopback(const boost::asio::ip::tcp::endpoint& peer);

}  // namespace ddprun::server
