#include "rendezvous/server/connection_limits.h"

#include <algorithm>

namespace ddprun::server {
namespace {

constexpr std::size_t kFilesOfTls = 3;  // its own, and the pump's two ends

}  // namespace

std::size_t connections_for(std::size_t files, std::size_t own, bool tls) {
  const std::size_t most = files - std::min(own, files / 2);
  return std::max<std::size_t>(tls ? most / kFilesOfTls : most, 1);
}

ConnectionLimits shared_out(std::size_t all) {
  const std::size_t per_address = std::max<std::size_t>(all / 2, 1);
  return {.all = all,
          .per_address = per_address,
          .unfinished_per_address = std::max<std::size_t>(per_address / 2, 1)};
}

}  // namespace ddprun::server
