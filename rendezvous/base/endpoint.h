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
// Error says what is wrong with the text.
Result<Endpoint> parse_endpoint(std::string_view text);

// "host:29400"; an IPv6 address in brackets.
std::string to_text(const Endpoint& endpoint);

}  // namespace ddprun
