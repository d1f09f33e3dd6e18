// Jobs of more than one node are understood and cannot be run yet. This is the one place that says
// so; when nodes can join each other it goes, with its two calls in launch.cpp.
#pragma once

#include <string>

#include "launcher/cli/job_spec.h"

namespace ddprun {

// The line with which a job is refused that needs more nodes than this one; empty: it can run here.
std::string needs_other_nodes(const cli::JobSpec& spec);

// Notes in `spec` that other nodes may join a job in vain that can run on this one (--nnodes
// 1:MAX).
void note_that_none_can_join(cli::JobSpec& spec);

}  // namespace ddprun
