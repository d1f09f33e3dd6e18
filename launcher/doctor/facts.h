// What --doctor has found out about a machine, as plain values.
#pragma once

#include <chrono>
#include <cstdint>
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
  std::chrono::milliseconds took{0};
};

// A network interface that is up, but not that of loopback.
struct Interface {
  std::string name;
  std::vector<std::string> addresses;
};

// A TCP port of this machine.
struct Port {
  std::uint16_t number = 0;
  std::string holder;  // "pid 7 (rdzvd)"; empty: it is free
};

// Where the job's nodes are to meet, as the command line says.
struct Endpoint {
  HostName host;
  std::uint16_t port = 0;
  std::string failure;     // what came back from there; empty: it takes connections
  bool timed_out = false;  // nothing came back
};

// A folder that is written to.
struct Folder {
  std::string path;
  bool writable = false;
  std::optional<unsigned long long> free_bytes;
  bool timed_out = false;  // its file system does not answer
};

// How much of something may be used, and is.
struct Amount {
  std::optional<unsigned long long> limit;  // none: no limit
  std::optional<unsigned long long> used;   // none: nobody tells
};

// PyTorch, as the Python of the workers finds it, or LibTorch alone.
struct Torch {
  std::string version;  // "2.11.0+cu130"; empty: there is none
  std::string cuda;     // "13.0"; empty: built without
  std::string nccl;     // "2.28.9"; empty: none seen
  std::string folder;
  bool timed_out = false;
};

struct Facts {
  std::string version;  // of ddprun
  std::string kernel;   // "Linux 6.1.0 x86_64"
  std::string libc;     // "glibc 2.36"
  std::string time;     // ISO 8601, UTC
  std::string cpus;     // those of the affinity mask: "0-3,8"
  int affinity_cpus = 1;
  int allowed_cpus = 1;           // with the cgroup's quota
  unsigned long long memory = 0;  // bytes of the machine
  std::optional<unsigned long long> memory_available;
  Amount cgroup_memory;
  devices::NodeGpus gpus;
  bool gpus_timed_out = false;  // the driver does not answer
  devices::VisibleGpus visible;
  std::string driver;  // "580.65.06"; empty: none is loaded
  Torch torch;
  std::string nccl;  // of the system's libnccl.so.2: "2.28.9"; empty: none
  HostName host;
  std::vector<Interface> interfaces;
  std::vector<std::string> interface_choices;  // "NCCL_SOCKET_IFNAME=ib0", and Gloo's
  std::optional<Endpoint> endpoint;
  std::vector<Port> ports;
  std::optional<Port> needed_port;     // which a job of one node is to listen on
  std::string loopback_failure;        // why nothing can listen on 127.0.0.1; empty: it can
  std::vector<std::string> firewalls;  // "ufw": what may keep other nodes out
  unsigned long long open_files_soft = 0;
  unsigned long long open_files_hard = 0;
  unsigned long long processes_soft = 0;  // ~0: none
  bool is_root = false;                   // whom that limit does not hold
  Amount cgroup_processes;
  unsigned long long locked_memory = 0;  // bytes; ~0: none
  std::vector<std::string> infiniband;   // "mlx5_0": adapters
  Folder shared_memory;                  // /dev/shm
  Folder temporary;                      // TMPDIR, or /tmp
  std::string python;                    // where it was found; empty: nowhere in PATH
  std::string hwloc_failure;             // why the hwloc module cannot be used; empty: it can
  std::string stack_tool;                // the file of eu-stack or gdb; empty: neither is there
  std::string core_pattern;
  unsigned long long core_limit = 0;     // bytes; ~0: none
  std::vector<std::string> scheduler;    // "SLURM_JOB_ID=7": what tells of one
  std::vector<std::string> environment;  // "NCCL_DEBUG=INFO": what changes how jobs run
  bool clock_synchronized = false;
};

}  // namespace ddprun::doctor
