#include "launcher/report/blame.h"

#include <algorithm>

#include "launcher/report/ranks.h"

namespace ddprun::report {

std::vector<int> absent_ranks(int failed, const std::vector<Wait>& waits, int world_size) {
  const auto own = std::ranges::find(waits, failed, &Wait::rank);
  if (own == waits.end()) return {};
  std::vector<int> absent;
  for (const int rank : own->waited_for) {
    if (rank != failed && rank >= 0 && rank < world_size) absent.push_back(rank);
  }
  std::ranges::sort(absent);
  absent.erase(std::unique(absent.begin(), absent.end()), absent.end());
  std::vector<int> guilty = absent;
  std::erase_if(guilty, [&](int rank) {
    const auto other = std::ranges::find(waits, rank, &Wait::rank);
    return other != waits.end() && !other->waited_for.empty();
  });
  return guilty.empty() ? absent : guilty;  // they waited for each other
}

std::string who_failed_first(int failed, const std::vector<int>& absent) {
  const std::string rank = "rank " + std::to_string(failed);
  if (absent.empty()) return rank + " failed first";
  return fold_ranks(absent) + " did not take part; " + rank + ", which waited for " +
         (absent.size() == 1 ? "it" : "them") + ", failed first";
}

}  // namespace ddprun::report
