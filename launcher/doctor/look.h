// Finds out what --doctor tells.
#pragma once

#include <chrono>
#include <string>

#include "launcher/cli/environment.h"
#include "launcher/doctor/facts.h"

namespace ddprun::doctor {

// How long a name server may take.
inline constexpr std::chrono::milliseconds kNamePatience{2000};

// Looks at this machine. Takes little longer than kNamePatience at most. DDPRUN_NVML and
// DDPRUN_HWLOC of `environment` name other libraries, as for a job.
Facts look(const cli::Environment& environment);

// What `name` leads to, found by a child process that is killed when the patience is over, because
// a lookup cannot be cancelled.
HostName resolve(const std::string& name, std::chrono::milliseconds patience);

}  // namespace ddprun::doctor
