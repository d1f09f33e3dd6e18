// Machines to bind workers on.
#pragma once

#include <ostream>

#include "launcher/placement/topology.h"

namespace ddprun::placement {

inline bool operator==(const Cpu& a, const Cpu& b) {
  return a.id == b.id && a.core == b.core && a.package == b.package && a.node == b.node &&
         a.cache == b.cache;
}

inline void PrintTo(const Cpu& cpu, std::ostream* out) {
  *out << "CPU " << cpu.id << " core " << cpu.core << " package " << cpu.package << " node "
       << cpu.node << " cache " << cpu.cache;
}

// hwloc's "pack:2 numa:2 l3:2 core:4 pu:2": 64 CPUs, 16 at each of four nodes, two nodes on each
// socket, two caches at each node, four cores below each cache.
inline Topology two_sockets() {
  Topology topology;
  for (int id = 0; id < 64; ++id)
    topology.cpus.push_back({id, id / 2, id / 32, id / 16, id / 8 * 8});
  topology.this_machine = false;
  return topology;
}

}  // namespace ddprun::placement
