// Reads in which control groups a process is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ddprun {

// One line of /proc/PID/cgroup.
struct Cgroup {
  std::string controllers;           // "cpu,cpuacct"; empty for the hierarchy of v2
  std::vector<std::string> folders;  // its own and those above it: "/a/b", "/a", ""

  bool v2() const { return controllers.empty(); }
  bool has(std::string_view controller) const;
};

// From the text of /proc/PID/cgroup, in its order; lines that are none are left out. Of a group
// that lies outside of what this process can see ("/../..") only the root is known. Pure.
std::vector<Cgroup> read_cgroups(std::string_view proc_pid_cgroup);

}  // namespace ddprun
