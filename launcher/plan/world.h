// A plan of one node becomes that of a node among others.
#pragma once

#include <string>

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

// What is wrong with options that name ranks which a world of this size does not have (--stdin,
// --wrap); empty: nothing.
std::string wrong_rank(const cli::JobSpec& job, int world_size);

}  // namespace ddprun::plan
