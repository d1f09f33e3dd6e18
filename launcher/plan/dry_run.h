// What --dry-run prints.
#pragma once

#include <string>

#include "launcher/cli/environment.h"
#include "launcher/plan/launch_plan.h"

namespace ddprun::plan {

// The plan as text for a terminal, with its final newline: how several nodes meet, the start line,
// one row for each rank (the middle ones are left out of a long table), the command, what is added
// to the environment, and the notices. Nothing of it has been started, so a port of 0 and an empty
// run id of `meeting` are shown as chosen later. `parent` as for WorkerEnvironment.
std::string dry_run_table(const LaunchPlan& plan, const Meeting& meeting,
                          const cli::Environment& parent);

}  // namespace ddprun::plan
