#include "launcher/plan/place.h"

#include <algorithm>

#include "launcher/placement/bindings.h"
#include "launcher/plan/wording.h"

namespace ddprun::plan {
namespace {

using placement::Binding;
using placement::CpuList;

std::vector<placement::Seat> seats_of(const LaunchPlan& plan, const Machine& machine) {
  std::vector<placement::Seat> seats;
  for (const WorkerPlan& worker : plan.workers) {
    placement::Seat seat;
    if (worker.gpu) seat.pci_address = worker.gpu->pci_address;
    const auto known = machine.gpu_nodes.find(seat.pci_address);
    if (known != machine.gpu_nodes.end()) seat.gpu_node = known->second;
    seats.push_back(std::move(seat));
  }
  return seats;
}

// The mask of this process says nothing about a machine that is only described.
CpuList usable_cpus(const Machine& machine) {
  if (machine.topology->this_machine) return machine.allowed;
  CpuList all;
  for (const placement::Cpu& cpu : machine.topology->cpus) all.push_back(cpu.id);
  std::ranges::sort(all);
  return all;
}

std::string rank_text(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + placement::range_text(ranks) +
         (ranks.size() == 1 ? " is" : " are");
}

// One line for those that are not bound, whose reasons differ in the GPU at most, and one for those
// that share.
void note_what_was_not_done(const std::string& option, LaunchPlan& plan) {
  std::vector<int> unbound;
  std::string why;
  std::string shared;
  for (const WorkerPlan& worker : plan.workers) {
    const Binding& binding = *worker.binding;
    if (binding.as_asked) continue;
    if (!binding.cpus.empty()) {
      shared = binding.reason;
      continue;
    }
    unbound.push_back(worker.rank);
    if (why.empty()) why = binding.reason;
  }
  if (!unbound.empty())
    plan.notices.push_back(option + ": " + rank_text(unbound) + " not bound: " + why);
  if (!shared.empty()) plan.notices.push_back(option + ": " + shared);
}

void bind(const cli::JobSpec& job, const Machine& machine, LaunchPlan& plan) {
  const std::string option = std::string("--bind ") + placement::name_of(job.bind);
  if (!machine.topology) {
    plan.notices.push_back(option + ": the workers are not bound: " + machine.failure);
    return;
  }
  const auto found = placement::bindings(*machine.topology, seats_of(plan, machine), job.bind,
                                         usable_cpus(machine));
  for (std::size_t i = 0; i < found.size(); ++i) plan.workers[i].binding = found[i];
  note_what_was_not_done(option, plan);
}

std::string report_line(const WorkerPlan& worker, const Machine& machine) {
  const bool bound = worker.binding && !worker.binding->cpus.empty();
  std::string text =
      "rank " + std::to_string(worker.rank) + ": CPUs " +
      (bound ? cpus_text(worker) : placement::range_text(machine.allowed) + " (not bound)");
  if (bound)
    text += (worker.binding->nodes.size() == 1 ? ", NUMA node " : ", NUMA nodes ") +
            placement::range_text(worker.binding->nodes);
  text += ", " + device_text(worker);
  if (!worker.gpu) return text;
  text += ", " + gpu_text(*worker.gpu);
  return worker.gpu->pci_address.empty() ? text : text + " at " + worker.gpu->pci_address;
}

}  // namespace

void bind_workers(const cli::JobSpec& job, const Node& node, LaunchPlan& plan) {
  if (!node.machine) return;
  if (job.bind != cli::BindMode::none) bind(job, *node.machine, plan);
  if (!job.report_bindings) return;
  for (const WorkerPlan& worker : plan.workers)
    plan.binding_report.push_back(report_line(worker, *node.machine));
}

std::string cpus_text(const WorkerPlan& worker) {
  return worker.binding ? placement::range_text(worker.binding->cpus) : "";
}

}  // namespace ddprun::plan
