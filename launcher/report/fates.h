// What became of the workers that are not the cause, grouped.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "launcher/report/report.h"
#include "launcher/supervise/outcome.h"

namespace ddprun::report {

// One phrase for each group of workers with the same fate, such as "ranks 0-1, 3 stopped by ddprun
// (SIGTERM)" or "rank 3 exited 1 0.03 s later", without the first failed one. At most seven: rare
// failures after the first are counted together.
std::vector<std::string> fates(const supervise::Outcome& outcome, const Facts& facts);

// As fates(), of a group that was told to stop: "ranks 0-1 ended", "rank 2 had to be killed
// (SIGKILL) after 30 s".
std::vector<std::string> fates_of_stop(const supervise::Outcome& outcome, const Facts& facts);

// "1.204 s", "2 min 5 s", "3 h 20 min".
std::string duration(std::chrono::nanoseconds time);

}  // namespace ddprun::report
