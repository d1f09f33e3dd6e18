// Gives the workers of a plan their CPUs.
#pragma once

#include "launcher/cli/job_spec.h"
#include "launcher/plan/launch_plan.h"
#include "launcher/plan/node.h"

namespace ddprun::plan {

// Pure. --bind: sets the binding of every worker, from its own GPU's PCI address, and notes in at
// most two lines what could not be done as asked; never refuses. --report-bindings: writes one line
// for each rank. Does nothing without `node.machine`.
void bind_workers(const cli::JobSpec& job, const Node& node, LaunchPlan& plan);

// "0-15,64": the CPUs that a worker is bound to; "" where it is not.
std::string cpus_text(const WorkerPlan& worker);

}  // namespace ddprun::plan
