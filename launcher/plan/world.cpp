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

std::string wrong_rank(const cli::JobSpec& job, int world_size) {
  const int last = world_size - 1;
  if (job.stdin_rank && *job.stdin_rank > last)
    return "--stdin " + std::to_string(*job.stdin_rank) + ": there is no such rank, with " +
           count_text(static_cast<std::size_t>(world_size), "worker") + " the last one is " +
           std::to_string(last);
  for (const cli::Wrap& wrap : job.wraps) {
    int rank = 0;
    while (rank <= last && !wrap.ranks.contains(rank)) ++rank;
    if (rank > last)
      return "--wrap: '" + wrap.words.front() + "' is for none of the ranks; the last one is " +
             std::to_string(last);
  }
  return "";
}

}  // namespace ddprun::plan
