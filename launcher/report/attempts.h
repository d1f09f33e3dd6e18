// Failures in one line each: of the attempts before the last one, and of the workers that ran into
// a time limit.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "launcher/report/report.h"
#include "launcher/supervise/outcome.h"
#include "launcher/supervise/restart.h"

namespace ddprun::report {

// "exit code 3", "no progress for 5 s (--progress-timeout)": how the first failed worker of an
// attempt failed. `limit` is what --progress-timeout allowed.
std::string failure(supervise::Cause cause, const std::optional<supervise::WaitStatus>& status,
                    std::chrono::nanoseconds limit);

// The global rank of the worker that failed first.
int rank_of(const supervise::Attempt& attempt, const plan::LaunchPlan& plan);

// "attempt 0: rank 2 failed first: exit code 3 after 1.204 s"; on several nodes "rank 2 on node b".
std::string attempt_line(const supervise::Attempt& attempt, const plan::LaunchPlan& plan);

// attempt_line() of each earlier attempt, indented. Of more than four the last four, and how many
// there were before.
std::vector<std::string> earlier_attempts(const Facts& facts);

// "ddprun: attempt 0: rank 2 failed first: exit code 3 after 1.204 s; restart 1 of 3 in 2 s (failed
// within a second 3 times in a row)": told before the restart. `plan` gives the ranks.
std::string restart_line(const supervise::Attempt& attempt, int max_restarts,
                         const supervise::RestartDecision& next, const plan::LaunchPlan& plan);

// A limit as the user wrote it: "5 s", "0.25 s".
std::string limit_text(std::chrono::nanoseconds limit);

}  // namespace ddprun::report
