// Signals to many descendants at once: to those that want one, or to all.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace ddprun::process {

// Sends `signo` to those members of the process groups led by `leaders` that have a handler for it,
// as far as they descend from this process. Returns how many. For SIGUSR1 and SIGUSR2, which would
// end a program that does not expect them.
int signal_catchers(const std::vector<pid_t>& leaders, int signo);

// Stops (SIGSTOP) all descendants of this process that are not stopped already, and returns them,
// parents before their children: whoever is stopped starts no more children and does not notice
// that one of its own has stopped.
std::vector<pid_t> stop_descendants();

// Continues (SIGCONT) those of `stopped`, which is from stop_descendants(), that are still
// descendants of this process, children before their parents: a parent that stops with its child,
// as the guardian of a ddprun among them does, finds it running.
void continue_descendants(const std::vector<pid_t>& stopped);

// True if the "SigCgt" line of the text of /proc/PID/status has `signo`.
bool catches(std::string_view status_text, int signo);

}  // namespace ddprun::process
