// The end of a job as the user sees it: the report, the copied error file, the exit code.
#pragma once

#include <optional>
#include <vector>

#include "launcher/agent/job_parts.h"
#include "launcher/agent/round.h"
#include "launcher/report/report.h"

namespace ddprun::agent {

// Writes the report of `last`, the round with which the job ended with `outcome`, to the output,
// with a line for each of the `earlier` attempts and with `remote` as what ended it elsewhere;
// copies the error file of the first failure to where the environment asks for it, removes the run
// directory after success or says where it is kept, and says how ddprun has to end.
report::ExitDecision conclude(const JobParts& parts, const Round& last,
                              const supervise::Outcome& outcome,
                              const std::vector<supervise::Attempt>& earlier,
                              const std::optional<report::RemoteCause>& remote = {});

}  // namespace ddprun::agent
