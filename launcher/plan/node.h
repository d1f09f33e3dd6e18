// What a plan needs to know about the node it is made for.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/cli/environment.h"
#include "launcher/cli/job_spec.h"
#include "launcher/devices/devices.h"
#include "launcher/placement/cpu_list.h"
#include "launcher/placement/topology.h"

namespace ddprun::plan {

// What --bind and --report-bindings need to know.
struct Machine {
  placement::CpuList allowed;                   // the CPUs this process may run on
  std::optional<placement::Topology> topology;  // read for --bind only
  std::string failure;                          // why it could not be read
  std::map<std::string, int> gpu_nodes;         // NUMA node by PCI address, where it is known
};

struct Node {
  std::string host;                     // its name, up to the first dot
  int allowed_cpus = 1;                 // at least 1
  bool omp_num_threads_set = false;     // the workers inherit OMP_NUM_THREADS
  std::string python = "python3";       // PYTHON_EXEC, or this
  std::optional<Machine> machine = {};  // see machine_of()
};

// This node, as it is now. Asks the kernel for its name, the affinity mask and the cgroup's quota.
Node this_node(const cli::Environment& environment);

// What `job` needs to know about this machine; none when it neither binds nor reports bindings, and
// then nothing is read. Opens the hwloc module (DDPRUN_HWLOC names another file) and the sysfs
// entries of `gpus` (DDPRUN_SYSFS names another folder than /sys).
std::optional<Machine> machine_of(const cli::JobSpec& job, const devices::NodeGpus& gpus,
                                  const cli::Environment& environment);

// CPUs this process may use: those of its affinity mask, or fewer if a cgroup (v1 or v2) has a
// quota; a quota is rounded down, because half a CPU is no place for a worker. At least 1.
int allowed_cpus();

// The GPUs that `job` may be planned on: simulated ones, those of the driver (through DDPRUN_NVML
// where that is set), or none without asking anybody when the job wants none.
devices::NodeGpus node_gpus(const cli::JobSpec& job, const cli::Environment& environment);

// CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER of `environment`, applied to `node`.
devices::VisibleGpus visible_gpus(const cli::JobSpec& job, const devices::NodeGpus& node,
                                  const cli::Environment& environment);

// True when no worker can get a GPU whatever the node has: --device cpu, or --nproc-per-node cpu
// without --device.
bool wants_cpu_only(const cli::JobSpec& job);

// Pure readers of what cgroups say; a limit is a number of CPUs, none where there is no limit or
// the text is not understood. cpu.max of v2: "150000 100000" is 1.5, "max 100000" is none.
std::optional<double> cpu_max_limit(std::string_view text);
// cpu.cfs_quota_us and cpu.cfs_period_us of v1: a quota of -1 is none.
std::optional<double> cfs_limit(std::string_view quota, std::string_view period);

// The folders whose limits count for a process, from its /proc/self/cgroup: its own group's and
// those above it.
struct CgroupFolders {
  std::vector<std::string> v2;  // below /sys/fs/cgroup: "/a/b", "/a", ""
  std::vector<std::string> v1;  // below /sys/fs/cgroup/cpu
};
CgroupFolders cgroup_folders(std::string_view proc_self_cgroup);

}  // namespace ddprun::plan
