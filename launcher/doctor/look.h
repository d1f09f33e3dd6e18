// Finds out what --doctor tells.
#pragma once

#include <chrono>

#include "launcher/cli/environment.h"
#include "launcher/cli/job_spec.h"
#include "launcher/doctor/facts.h"

namespace ddprun::doctor {

// How long all that may hang (name servers, drivers, file systems, Python) is waited for, together.
inline constexpr std::chrono::milliseconds kPatience{5000};

// Looks at this machine, and at where the nodes of `job` are to meet. Takes little longer than
// `patience` at most. DDPRUN_NVML and DDPRUN_HWLOC of `environment` name other libraries, as for a
// job. This process must have no other threads.
Facts look(const cli::JobSpec& job, const cli::Environment& environment,
           std::chrono::milliseconds patience = kPatience);

}  // namespace ddprun::doctor
