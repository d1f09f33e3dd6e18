// How many connections a server takes where nobody has said it. Pure.
#pragma once

#include <cstddef>

namespace ddprun::server {

// As in ServerOptions.
struct ConnectionLimits {
  std::size_t all = 0;
  std::size_t per_address = 0;
  std::size_t unfinished_per_address = 0;
};

// So many connections that of `files` descriptors `own` are left for other things, or half of them
// where that is less; one by TLS takes three.
std::size_t connections_for(std::size_t files, std::size_t own, bool tls);

// One address gets half of `all`, so that it cannot take all of them, and half of that for those
// that have not said yet what they speak: a storm of good clients has not for a moment either.
ConnectionLimits shared_out(std::size_t all);

}  // namespace ddprun::server
