#include "launcher/report/blame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ddprun::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Blame, IsOnThoseThatDidNotCome) {
  EXPECT_THAT(absent_ranks(0, {{0, {3, 1, 3}}}, 4), ElementsAre(1, 3));
  EXPECT_THAT(absent_ranks(0, {}, 4), IsEmpty());
  EXPECT_THAT(absent_ranks(0, {{1, {2}}}, 4), IsEmpty());
}

TEST(Blame, IsNotOnThoseThatWaitedThemselves) {
  EXPECT_THAT(absent_ranks(0, {{0, {1, 2}}, {2, {1}}}, 3), ElementsAre(1));
  EXPECT_THAT(absent_ranks(0, {{0, {1, 2}}, {2, {}}}, 3), ElementsAre(1, 2));
  // Each waits for the other: two different orders of calls.
  EXPECT_THAT(absent_ranks(0, {{0, {1}}, {1, {0}}}, 2), ElementsAre(1));
}

TEST(Blame, IsNotOnRanksThatDoNotExist) {
  EXPECT_THAT(absent_ranks(0, {{0, {0, -1, 4, 2}}}, 4), ElementsAre(2));
}

TEST(Blame, IsSaidInOneSentence) {
  EXPECT_EQ(who_failed_first(2, {}), "rank 2 failed first");
  EXPECT_EQ(who_failed_first(2, {0}),
            "rank 0 did not take part; rank 2, which waited for it, failed first");
  EXPECT_EQ(who_failed_first(2, {0, 1, 3}),
            "ranks 0-1, 3 did not take part; rank 2, which waited for them, failed first");
}

}  // namespace
}  // namespace ddprun::report
