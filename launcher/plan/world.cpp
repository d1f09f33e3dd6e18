#include "launcher/plan/world.h"

#include "launcher/plan/command.h"
#include "launcher/plan/wording.h"

namespace ddprun::plan {

void take_place(const cli::JobSpec& job, const WorldPlace& place, LaunchPlan& plan) {
  plan.node_rank = place.node_rank;
  plan.number_of_nodes = place.number_of_nodes;
  plan.world_size = place.world_size;
  for (WorkerPlan& worker : plan.workers) {
    worker.rank = place.first_rank + worker.local_rank;
    worker.wrapper = wrapper_of(job, worker.rank);
  }
  const int last_rank = place.first_rank + static_cast<int>(plan.workers.size()) - 1;
  plan.start_line = start_line(plan, "") + "; node rank " + std::to_string(place.node_rank) +
                    " of " + std::to_string(place.number_of_nodes) + ", rank" +
                    (last_rank > place.first_rank
                         ? "s " + std::to_string(place.first_rank) + "-" + std::to_string(last_rank)
                         : " " + std::to_string(last_rank)) +
                    " of " + std::to_string(place.world_size);
}

}  // namespace ddprun::plan
