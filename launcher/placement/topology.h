// The CPUs of a machine and how they lie together, as a plain value.
#pragma once

#include <vector>

namespace ddprun::placement {

// One CPU as the kernel counts them (a hardware thread).
struct Cpu {
  int id = 0;       // the kernel's number
  int core = 0;     // CPUs with the same number are threads of one core
  int package = 0;  // the socket
  int node = 0;     // the kernel's number of its NUMA node
  int cache = 0;    // CPUs with the same number share a last-level data cache
};

struct Topology {
  std::vector<Cpu> cpus;  // neighbours stand side by side: by package, node, cache, core
  // False: it describes some other machine (HWLOC_SYNTHETIC or HWLOC_XMLFILE), so this process's
  // affinity mask says nothing about it.
  bool this_machine = true;
};

}  // namespace ddprun::placement
