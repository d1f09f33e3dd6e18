// What became of the workers that are not the cause, grouped.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "launcher/report/report.h"
#include "launcher/supervise/outcome.h"

namespace ddprun::report {

// One phrase for each group of workers with the same fate, such as "ranks 0-1, 3 stopped by ddprun
// (SIGTERM)", "rank 3 exited 1 0.03 s later" or "rank 2 had exited 0 1.50 s earlier", without the
// first failed one; after Cause::exit_grace without the early leavers. At most eight: rare failures
// after the first are counted together.
std::vector<std::string> fates(const supervise::Outcome& outcome, const Facts& facts);

// As fates(), of a group that was told to stop: "ranks 0-1 ended", "rank 2 had to be killed
// (SIGKILL) after 30 s".
std::vector<std::string> fates_of_stop(const supervise::Outcome& outcome, const Facts& facts);

// "ranks 1, 3 exited 0 after 1.20 to 2.10 s": who had ended with 0 before the group was stopped.
std::string early_leavers(const supervise::Outcome& outcome, const Facts& facts);
// "ranks 0, 2 still ran": the others.
std::string still_running_at_limit(const supervise::Outcome& outcome, const Facts& facts);

// When the first failed worker failed: it ended, or it had been silent for too long. None without
// one.
std::optional<supervise::Time> failed_at(const supervise::Outcome& outcome);

// "1.204 s", "2 min 5 s", "3 h 20 min".
std::string duration(std::chrono::nanoseconds time);

}  // namespace ddprun::report
