// What the kernel tells about the threads of a process, where there is no debugger.
#pragma once

#include <sys/types.h>

#include <string>

namespace ddprun::stacks {

// For each thread, at most 64: its name, state, wait channel, system call and kernel stack, as far
// as this user may read them. Empty when the process is gone.
std::string proc_stacks(pid_t pid);

}  // namespace ddprun::stacks
