// Which CPUs each worker of a node may run on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/cli/job_spec.h"
#include "launcher/placement/cpu_list.h"
#include "launcher/placement/topology.h"

namespace ddprun::placement {

// What counts about a worker: the GPU it uses, which is not told by its local rank.
struct Seat {
  std::string pci_address;      // of its GPU; empty: it has none, or a simulated one
  std::optional<int> gpu_node;  // the NUMA node next to that GPU; none: the kernel does not say
};

struct Binding {
  CpuList cpus;            // empty: the worker stays where ddprun itself may run
  std::vector<int> nodes;  // the NUMA nodes of these CPUs, ascending
  bool all_nodes = true;   // the machine has no others, so memory need not be preferred anywhere
  std::string reason;      // why these CPUs, or why none
  bool as_asked = true;    // false: the user must be told `reason`
};

// Pure. One binding for each of `seats`, which are in the order of the local ranks. Only CPUs of
// `allowed` are given. Modes:
//   node          all CPUs of the NUMA node of the worker's GPU
//   socket        all CPUs of the NUMA nodes on that node's socket
//   exclusive     an equal share of the node's cores; the first workers get what is left over
//   core_complex  the CPUs below one last-level cache of the node, the largest ones first; workers
//                 take turns where there are more of them
//   cores         an equal share of all cores, whatever the GPUs are
// Where no seat has a GPU every mode means `cores`. Cores are never split between workers unless
// there are more workers than cores, which is said. Counterpart: torch.numa.binding, which takes
// the local rank for the GPU's number, counts GPUs that no worker uses and fails where this says
// why it does not bind.
std::vector<Binding> bindings(const Topology& topology, const std::vector<Seat>& seats,
                              cli::BindMode mode, const CpuList& allowed);

// How many CPUs each worker has for itself, at least 1: a CPU that k workers are bound to counts as
// 1/k for each of them. 0 for a worker that is not bound.
std::vector<int> cpu_shares(const std::vector<Binding>& bindings);

// "node", "core-complex", …: the word of --bind.
const char* name_of(cli::BindMode mode);

}  // namespace ddprun::placement
