// What would stop a job before its first worker, found out without starting anything.
#pragma once

#include <optional>

#include "launcher/agent/agent.h"
#include "rendezvous/base/result.h"

namespace ddprun::agent {

// The error that run() would end with, in its words: a file of --events that cannot be written,
// a port that is taken or a log directory that cannot be used. None: nothing speaks against the
// start now. What it makes to find out is gone when it returns.
std::optional<Error> cannot_begin(const cli::JobSpec& spec);

}  // namespace ddprun::agent
