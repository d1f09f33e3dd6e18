// The words a worker is executed with.
#pragma once

#include <string>
#include <vector>

#include "launcher/cli/job_spec.h"
#include "launcher/plan/launch_plan.h"

namespace ddprun::plan {

// True when PROGRAM is run by Python: -m, --run-path, or a name that ends in .py without
// --no-python.
bool runs_python(const cli::JobSpec& job);

// argv of the worker with this local rank, without a wrapper. Python gets `python -u [-m]`, and a
// `--` directly behind the script is dropped unless one stood before it; ${local_rank} is replaced
// in all words but argv[0]; --pass-local-rank puts its argument before the program's own ones.
// Nothing else is changed. Counterpart: config_from_args of torch.distributed.run.
std::vector<std::string> worker_command(const cli::JobSpec& job, const std::string& python,
                                        int local_rank);

// The wrapper of a rank: the words of the first --wrap whose ranks have it, as they were given;
// none: empty.
std::vector<std::string> wrapper_of(const cli::JobSpec& job, int rank);

// Everything that the worker is executed with: its wrapper and then its argv. In the words of the
// wrapper %r becomes the rank, %l the local rank, %h the host's name, %a the attempt, and %% a
// percent sign; any other % stays.
std::vector<std::string> command_line(const WorkerPlan& worker, const std::string& host,
                                      int attempt);

}  // namespace ddprun::plan
