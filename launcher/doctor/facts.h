// What --doctor has found out about a machine, as plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/devices/devices.h"

namespace ddprun::doctor {

// What a host name leads to.
struct HostName {
  std::string name;
  std::vector<std::string> addresses;
  std::string failure;     // why there are none, in the resolver's words
  bool timed_out = false;  // it had no answer when the limit passed
};

// A folder that is written to.
struct Folder {
  std::string path;
  bool writable = false;
  std::optional<unsigned long long> free_bytes;
};

struct Facts {
  std::string version;  // of ddprun
  std::string kernel;   // "Linux 6.1.0 x86_64"
  std::string cpus;     // those of the affinity mask: "0-3,8"
  int affinity_cpus = 1;
  int allowed_cpus = 1;                            // with the cgroup's quota
  unsigned long long memory = 0;                   // bytes of the machine
  std::optional<unsigned long long> memory_limit;  // of the cgroup
  devices::NodeGpus gpus;
  devices::VisibleGpus visible;
  HostName host;
  std::string loopback_failure;  // why nothing can listen on 127.0.0.1; empty: it can
  unsigned long long open_files_soft = 0;
  unsigned long long open_files_hard = 0;
  Folder shared_memory;       // /dev/shm
  Folder temporary;           // TMPDIR, or /tmp
  std::string python;         // where python3 was found; empty: nowhere in PATH
  std::string hwloc_failure;  // why the hwloc module cannot be used; empty: it can
  std::string core_pattern;
  unsigned long long core_limit = 0;   // bytes; ~0: none
  std::vector<std::string> scheduler;  // "SLURM_JOB_ID=7": what tells of one
};

}  // namespace ddprun::doctor
