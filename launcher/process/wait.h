// Wait statuses of children, asked for without blocking.
#pragma once

#include <sys/types.h>

#include <optional>

#include "launcher/process/wait_status.h"

namespace ddprun::process {

// Reaps the child behind `pidfd` if it has ended; nothing while it runs. A child that was reaped
// elsewhere counts as killed.
std::optional<WaitStatus> reap(int pidfd);

// The state of a child, without reaping it.
enum class ChildState { running, stopped, ended };
ChildState state_of(int pidfd);

// The signal that has stopped a child; 0 while it runs or when it has ended.
int stop_signal_of(pid_t pid);

// The pid of some child that has ended and was not reaped yet; 0 when there is none, -1 when there
// are no children at all. For adopted orphans: reap what is returned with reap_orphan.
pid_t ended_child();
void reap_orphan(pid_t pid);

}  // namespace ddprun::process
