// The words a worker is executed with.
#pragma once

#include <string>
#include <vector>

#include "launcher/cli/job_spec.h"

namespace ddprun::plan {

// True when PROGRAM is run by Python: -m, --run-path, or a name that ends in .py without
// --no-python.
bool runs_python(const cli::JobSpec& job);

// argv of the worker with this local rank. Python gets `python -u [-m]`, and a `--` directly behind
// the script is dropped unless one stood before it; ${local_rank} is replaced in all words but
// argv[0]; --pass-local-rank puts its argument before the program's own ones. Nothing else is
// changed. Counterpart: config_from_args of torch.distributed.run.
std::vector<std::string> worker_command(const cli::JobSpec& job, const std::string& python,
                                        int local_rank);

}  // namespace ddprun::plan
