// The environment of a spawned worker. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ddp::detail {

struct SpawnPlace {
  int rank = 0;
  int world_size = 1;
  std::uint16_t port = 0;  // of the store, on loopback
  int cpus = 1;            // of all workers together
};

// `inherited` ("NAME=value" each) without what a launcher told the parent, and with what one on a
// single node tells this worker.
std::vector<std::string> spawn_environment(const std::vector<std::string>& inherited,
                                           const SpawnPlace& place);

}  // namespace ddp::detail
