// Whose absence another worker's failure tells of.
#pragma once

#include <string>
#include <vector>

namespace ddprun::report {

// What a worker's error.json says it waited for in vain.
struct Wait {
  int rank = 0;                 // global, of the worker
  std::vector<int> waited_for;  // global ranks
};

// The ranks that did not take part in what made rank `failed` fail: those that it waited for, less
// those that waited for others themselves. Ascending; empty where nothing is known. `waits` may
// hold any ranks; those outside of the world are left out.
std::vector<int> absent_ranks(int failed, const std::vector<Wait>& waits, int world_size);

// "rank 0 failed first", or "rank 2 did not take part; rank 0, which waited for it, failed first":
// whoever gives up a wait fails first, but those that did not come are where to look.
std::string who_failed_first(int failed, const std::vector<int>& absent);

}  // namespace ddprun::report
