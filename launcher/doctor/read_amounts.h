// Readers of the kernel's small files and of the environment, for --doctor.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/cli/environment.h"
#include "launcher/doctor/facts.h"

namespace ddprun::doctor {

// Pure. MemAvailable of /proc/meminfo, in bytes.
std::optional<unsigned long long> available_memory(std::string_view meminfo);

// The lowest limit that holds for a process, and what its own group uses of it. `groups` is its
// /proc/self/cgroup, `root` is /sys/fs/cgroup or a folder that stands for it.
Amount cgroup_memory(const std::string& groups, const std::string& root);
Amount cgroup_processes(const std::string& groups, const std::string& root);

// What tells of a batch system: "SLURM_JOB_ID=7".
std::vector<std::string> scheduler(const cli::Environment& environment);
// What changes how jobs run and meet: PET_*, NCCL_* and the like. Nothing that may be a secret.
std::vector<std::string> settings(const cli::Environment& environment);
// Those of `names` that are there: "NAME=value".
std::vector<std::string> entries_of(const cli::Environment& environment,
                                    std::initializer_list<const char*> names);

}  // namespace ddprun::doctor
