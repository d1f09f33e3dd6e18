#include "launcher/agent/placed.h"

#include <string.h>

#include "launcher/placement/cpu_list.h"

namespace ddprun::agent {

std::optional<process::Placement> placement_of(const plan::WorkerPlan& worker) {
  if (!worker.binding || worker.binding->cpus.empty()) return std::nullopt;
  process::Placement placement{.cpus = placement::bit_mask(worker.binding->cpus)};
  if (!worker.binding->all_nodes) placement.nodes = placement::bit_mask(worker.binding->nodes);
  return placement;
}

std::string refusal_text(const plan::WorkerPlan& worker, const process::PlacementErrors& errors) {
  if (errors.affinity != 0)
    return "--bind: rank " + std::to_string(worker.rank) + " could not be bound to CPUs " +
           placement::range_text(worker.binding->cpus) + " (" + ::strerror(errors.affinity) +
           "); it runs where ddprun may run";
  if (errors.memory != 0)
    return "--bind: the memory of rank " + std::to_string(worker.rank) +
           " is not kept on NUMA node " + placement::range_text(worker.binding->nodes) +
           " (set_mempolicy: " + ::strerror(errors.memory) + "); its CPUs are bound";
  return {};
}

}  // namespace ddprun::agent
