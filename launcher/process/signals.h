// Which processes want a signal that would otherwise end them.
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

// True if the "SigCgt" line of the text of /proc/PID/status has `signo`.
bool catches(std::string_view status_text, int signo);

}  // namespace ddprun::process
