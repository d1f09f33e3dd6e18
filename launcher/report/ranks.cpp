#include "launcher/report/ranks.h"

#include <algorithm>
#include <cstddef>

namespace ddprun::report {
namespace {

constexpr int kMostRanges = 6;

}  // namespace

std::string fold_ranks(std::vector<int> ranks) {
  std::ranges::sort(ranks);
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  int ranges = 0;
  for (std::size_t i = 0; i < ranks.size(); ++ranges) {
    if (ranges == kMostRanges) return text + " and " + std::to_string(ranks.size() - i) + " more";
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (ranges > 0) text += ", ";
    text += std::to_string(ranks[i]);
    if (end - i > 1) text += "-" + std::to_string(ranks[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace ddprun::report
