// Turns what was asked for and what there is into what will be started, or says why not.
#pragma once

#include "launcher/plan/launch_plan.h"
#include "launcher/plan/node.h"
#include "rendezvous/base/result.h"

namespace ddprun::plan {

// Pure. The plan of a job on one node: local rank r gets cuda:r, the r-th GPU of `visible`, or r
// modulo their number with --oversubscribe, or the CPU. Refused, with exit code 2 in mind: more
// workers than visible GPUs, GPUs asked for where there are none, and a CUDA_VISIBLE_DEVICES that
// hides every GPU by a slip. The error has several lines when it has to say what is visible, why,
// and the ways out. `visible` comes from the same `node_gpus`.
Result<LaunchPlan> make(const cli::JobSpec& job, const devices::NodeGpus& node_gpus,
                        const devices::VisibleGpus& visible, const Node& node);

// Pure. What there is to say of a node for which no plan could be made: no workers.
LaunchPlan without_workers(const cli::JobSpec& job, const std::string& host);

}  // namespace ddprun::plan
