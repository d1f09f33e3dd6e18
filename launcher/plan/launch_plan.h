// What is about to be started: the answer of plan::make, printed by --dry-run and carried out by
// the agent.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "launcher/cli/job_spec.h"
#include "launcher/devices/devices.h"
#include "launcher/placement/bindings.h"

namespace ddprun::plan {

// One worker process. `cuda_ordinal` is the K of cuda:K, an index into the visible list; the GPU
// behind it is `gpu`. The local rank is not the GPU id.
struct WorkerPlan {
  int rank = 0;
  int local_rank = 0;
  std::optional<int> cuda_ordinal;  // none: the worker runs on the CPU
  std::optional<devices::Gpu> gpu;  // set together with cuda_ordinal
  std::vector<std::string> argv;    // its first word is the program as it is to be searched for
  std::vector<std::string> wrapper = {};  // words before argv, see plan::command_line; mostly none
  // --virtual-local-rank: its own CUDA_VISIBLE_DEVICES. It then sees one device, cuda:0.
  std::optional<std::string> visible_devices = {};
  std::optional<placement::Binding> binding = {};  // --bind, where the topology could be read
  std::optional<int> omp_num_threads = {};         // where it is not the same for all workers
};

// Where a worker writes its reports of progress, if it is asked for any: see DDPRUN_PROGRESS_FD in
// launcher/agent/progress_pipes.h.
inline constexpr int kProgressDescriptor = 3;

struct LaunchPlan {
  std::vector<WorkerPlan> workers;  // by local rank; at least one
  int world_size = 0;
  int node_rank = 0;
  int number_of_nodes = 1;
  std::string role = "default";
  int max_restarts = 0;
  std::string signals_to_handle = "SIGTERM,SIGINT,SIGHUP,SIGQUIT";
  bool reports_progress = false;        // workers get a descriptor for that: DDPRUN_PROGRESS_FD
  std::optional<int> simulated_gpus;    // exported as DDPRUN_SIMULATED_GPUS
  std::optional<int> omp_num_threads;   // for all workers, instead of what they would inherit
  cli::RendezvousSpec rendezvous = {};  // how this node meets the others
  std::string host;
  std::string start_line;            // "ddprun: 2 workers on gpu07: rank 0 cuda:0 (GPU 1), …"
  std::vector<std::string> notices;  // said once before the start, each one line
  std::size_t common_notices = 0;    // the first so many of them any node of the job would say
  std::vector<std::string> binding_report;  // --report-bindings: one line for each rank

  // Of this node's workers by their local ranks, which must be there.
  const WorkerPlan& worker(int local_rank) const {
    return workers.at(static_cast<std::size_t>(local_rank));
  }
  // Global ranks, in the same order.
  int rank_of(int local_rank) const { return worker(local_rank).rank; }
  std::vector<int> ranks_of(const std::vector<int>& local_ranks) const {
    std::vector<int> ranks;
    for (const int local_rank : local_ranks) ranks.push_back(rank_of(local_rank));
    return ranks;
  }
};

// What is known only once the store listens and the run directory exists.
struct Meeting {
  std::string master_addr;
  int master_port = 0;
  std::string run_id;
  int restart_count = 0;  // TORCHELASTIC_RESTART_COUNT
  int round = 0;          // as restart_count, but nodes that come and go begin a new one as well
};

}  // namespace ddprun::plan
