// Who descends from whom, read from /proc.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace ddprun::process {

// The children of a process, zombies included; empty when it has none or is gone.
std::vector<pid_t> children_of(pid_t pid);

// Children, their children and so on; parents before their children.
std::vector<pid_t> descendants_of(pid_t pid);

// The parent of a process; 0 where it is gone, or its parent is in another pid namespace.
pid_t parent_of(pid_t pid);

// True while the process is there and not a zombie.
bool is_alive(pid_t pid);

// True while the process is stopped, by a signal or by a debugger.
bool is_stopped(pid_t pid);

// Sends SIGKILL to all descendants of this process but `spared` and what is below them, and reaps
// them, again and again until none is left: a killed parent's children become this process's own
// (it has to be a child subreaper). Returns those that did not end within `patience_ms` (a process
// in uninterruptible sleep).
std::vector<pid_t> kill_all_children(const std::vector<pid_t>& spared, int patience_ms);

}  // namespace ddprun::process
