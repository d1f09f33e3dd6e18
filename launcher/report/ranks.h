// Many ranks in few words.
#pragma once

#include <string>
#include <vector>

namespace ddprun::report {

// "rank 2", "ranks 0-1, 3": consecutive ranks folded, sorted. After six ranges the rest is counted:
// "ranks 0, 2, 4, 6, 8, 10 and 250 more".
std::string fold_ranks(std::vector<int> ranks);

}  // namespace ddprun::report
