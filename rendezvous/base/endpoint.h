// HOST:PORT, as users write it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rendezvous/base/result.h"

namespace ddprun {

inline constexpr std::uint16_t kDefaultRdzvPort = 29400;

struct Endpoint {
  std::string host;  // a name or an address without brackets; may be empty
  std::uint16_t port = kDefaultRdzvPort;
};

// "host", "host:29400", ":29400", "[fd00::1]:29400", "[::1]", and an IPv6 address without port. The
// Error says what is wrong with the text, and what to write.
Result<Endpoint> parse_endpoint(std::string_view text);

// What is wrong with a text that is nearly HOST:PORT, and what to write: "'http://gpu01:29400' is a
// URL; write gpu01:29400", or an IPv6 address and a port without brackets. Empty: none of these.
std::string endpoint_slip(std::string_view text);

// The part of a URL ("http://gpu01:29400/x") that an endpoint has; empty: it is no URL.
std::string_view authority_of_url(std::string_view text);

// An IPv6 address without brackets, perhaps with a zone: "fe80::1%eth0".
bool is_ipv6(std::string_view text);

// "host:29400"; an IPv6 address in brackets.
std::string to_text(const Endpoint& endpoint);

}  // namespace ddprun
