// What a process is called in a message.
#pragma once

#include <sys/types.h>

#include <string>

namespace ddprun {

// The command line of a process: words joined by blanks, without control characters, cut to 60
// bytes; its name where it has no command line; "?" when it is gone.
std::string command_of(pid_t pid);

}  // namespace ddprun
