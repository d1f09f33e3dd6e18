// What ddprun asks of its module around hwloc. The module is a library of its own, opened for
// --bind only, so that no other start pays for loading hwloc and ddprun can do without it.
//
// The interface is C, so that nothing of the C++ library has to be shared.
#pragma once

#include "launcher/placement/topology.h"

namespace ddprun::placement {

inline constexpr const char* kModuleFile = "libddprun_hwloc.so";
inline constexpr const char* kReadTopology = "ddprun_read_topology_1";  // changes with the types

// Reads the topology that hwloc finds (HWLOC_SYNTHETIC and HWLOC_XMLFILE are hwloc's own
// variables), calls `add` with `context` for every CPU in the order of Topology::cpus, and sets
// `this_machine` to 0 or 1. Returns null, or what went wrong.
using ReadTopology = const char*(void (*add)(void* context, const Cpu* cpu), void* context,
                                 int* this_machine);

}  // namespace ddprun::placement
