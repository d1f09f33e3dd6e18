// What the command line and the environment say about output and logs, handed to those who do it.
#pragma once

#include <string>

#include "launcher/agent/agent.h"
#include "launcher/agent/run_directory.h"
#include "launcher/output/output.h"

namespace ddprun::agent {

// Everything a job's Output needs to know. NO_COLOR and TERM are those of ddprun itself.
output::Options output_options(const Job& job);

// The run directory under --log-dir or TMPDIR, or RunDirectory::none() with --log-dir /dev/null. It
// is kept, and LOG_DIR/latest leads to it, when `output` writes files that were asked for; a note
// says so where that link cannot be made.
// `shared_name` is the name that the job's server gave all nodes; empty on one node.
Result<RunDirectory> make_run_directory(const Job& job, const std::string& run_id,
                                        const std::string& shared_name, output::Output& output);

}  // namespace ddprun::agent
