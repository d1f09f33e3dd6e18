// Where a child may run and where its memory should lie.
#pragma once

#include <vector>

namespace ddprun::process {

// Words of bits, as the kernel wants them (placement::bit_mask makes them).
struct Placement {
  std::vector<unsigned long> cpus;   // empty: the child keeps the mask of this process
  std::vector<unsigned long> nodes;  // NUMA nodes where its memory is preferred; empty: any
};

// What the kernel refused, as errno; 0: it was taken, or nothing was asked.
struct PlacementErrors {
  int affinity = 0;
  int memory = 0;
};

// Places the calling thread; an exec keeps it. Async-signal-safe system calls only, for the child
// of a vfork. The memory is preferred there, not bound: a full node is no reason to fail.
PlacementErrors place_this_thread(const Placement& placement);

}  // namespace ddprun::process
