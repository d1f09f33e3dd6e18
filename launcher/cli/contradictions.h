// Options that are right each by itself and cannot be had together.
#pragma once

#include <string>
#include <vector>

#include "launcher/cli/job_spec.h"
#include "launcher/cli/merge.h"

namespace ddprun::cli {

// One line that names both, as they were given in `settings`; empty where all is well. What depends
// on the machine is not looked at: plan::make does that.
std::string contradiction(const JobSpec& job, const std::vector<Setting>& settings);

}  // namespace ddprun::cli
