// How many threads OpenMP may start in each worker.
#pragma once

#include "launcher/cli/job_spec.h"
#include "launcher/plan/launch_plan.h"
#include "launcher/plan/node.h"

namespace ddprun::plan {

// Pure. --threads N: N. --threads auto: the worker's share of the CPUs that it is bound to, else of
// all allowed CPUs, and at most its share of the cgroup's quota. Both replace a value of the
// environment. Without --threads it is `auto` for more than one worker, and a value of the
// environment is kept. At most one notice says so. Comes after bind_workers(). torchrun sets 1.
void give_threads(const cli::JobSpec& job, const Node& node, LaunchPlan& plan);

}  // namespace ddprun::plan
