// The environment a worker is started with: what ddprun inherited, cleaned of what belongs to
// another job, and torchrun's variables with the values of this one.
#pragma once

#include <string>
#include <vector>

#include "launcher/cli/environment.h"
#include "launcher/plan/launch_plan.h"

namespace ddprun::plan {

// What all workers of a round share is made once; a worker's own variables are five or a few more.
// No name is in both parts, so their entries together, in any order, are the environment.
class WorkerEnvironment {
 public:
  // Copies what it needs. PET_*, TORCHELASTIC_*, DDPRUN_* and torchrun's rank variables of `parent`
  // are left out, and with --cluster mpi PMI* and OMPI_COMM_WORLD_* as well.
  WorkerEnvironment(const LaunchPlan& plan, const Meeting& meeting, const cli::Environment& parent);

  // "NAME=value": what is inherited and then what ddprun adds for every worker.
  const std::vector<std::string>& shared() const { return shared_; }

  // The end of shared(): what ddprun adds for every worker.
  std::vector<std::string> added() const { return {shared_.begin() + inherited_, shared_.end()}; }

  // "NAME=value": RANK, LOCAL_RANK, ROLE_RANK, DDPRUN_DEVICE and TORCHELASTIC_ERROR_FILE, which is
  // `error_file` (empty: there is none, and the variable is empty). Also CUDA_VISIBLE_DEVICES with
  // --virtual-local-rank, and OMP_NUM_THREADS where workers differ in it.
  std::vector<std::string> own(const WorkerPlan& worker, const std::string& error_file) const;

 private:
  std::vector<std::string> shared_;
  std::ptrdiff_t inherited_ = 0;
};

}  // namespace ddprun::plan
