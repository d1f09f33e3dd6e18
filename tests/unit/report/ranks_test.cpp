#include "launcher/report/ranks.h"

#include <gtest/gtest.h>

namespace ddprun::report {
namespace {

TEST(FoldRanks, FoldsAndSorts) {
  EXPECT_EQ(fold_ranks({2}), "rank 2");
  EXPECT_EQ(fold_ranks({3, 0, 1}), "ranks 0-1, 3");
  EXPECT_EQ(fold_ranks({4, 5, 6, 10, 12, 13}), "ranks 4-6, 10, 12-13");
}

TEST(FoldRanks, CountsWhatWouldGrowTooLong) {
  std::vector<int> even;
  for (int rank = 0; rank < 512; rank += 2) even.push_back(rank);
  EXPECT_EQ(fold_ranks(even), "ranks 0, 2, 4, 6, 8, 10 and 250 more");
}

}  // namespace
}  // namespace ddprun::report
