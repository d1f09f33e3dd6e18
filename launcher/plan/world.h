// A plan of one node becomes that of a node among others.
#pragma once

#include "launcher/cli/job_spec.h"
#include "launcher/plan/launch_plan.h"

namespace ddprun::plan {

// Where the workers of this node stand in the world.
struct WorldPlace {
  int node_rank = 0;
  int first_rank = 0;  // of local rank 0
  int number_of_nodes = 1;
  int world_size = 1;
};

// Gives `plan` its place: the ranks and what depends on them (--wrap, the start line). May be
// called again for every round.
void take_place(const cli::JobSpec& job, const WorldPlace& place, LaunchPlan& plan);

}  // namespace ddprun::plan
