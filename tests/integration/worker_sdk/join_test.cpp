// Ranks with different numbers of inputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/worker_sdk/job.h"

namespace ddp::test {
namespace {

using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr int kDdpError = 3, kOtherError = 4;

void expect_output(const std::vector<Ended>& ranks, const std::string& out) {
  for (const Ended& each : ranks) {
    EXPECT_EQ(each.exit_code, 0) << describe(ranks);
    EXPECT_EQ(each.out, out);
  }
}

// Gradients 1, 2, 3, then 2, 3, then 3, all divided by 3. The buffer is that of the last rank.
TEST(Join, DividesByAllRanks) {
  expect_output(run_ranks(3, "join_initial"), "weight -4.66667, seen 3\nlogged: 1\n");
}

// 6 / 3 + 5 / 2 + 3 / 1.
TEST(Join, DividesByTheRanksThatAreLeft) {
  expect_output(run_ranks(3, "join_effective"), "weight -7.5, seen 3\nlogged: 1\n");
}

TEST(Join, DoesNothingWhereInputsAreEven) {
  expect_output(run_ranks(2, "join_even"), "weight -4.5, seen 3\n");
  expect_output(run_ranks(1, "join_initial"), "weight -1, seen 1\nlogged: 1\n");
}

// Twice 3 / 2 + 2 / 1, then 3 / 2.
TEST(Join, LeavesTheModelAsItWasBefore) {
  expect_output(run_ranks(2, "join_and_go_on"), "ranks: 2\nranks: 2\nweight -8.5, seen 5\n");
}

// 1 without averaging is added each time: (2 + 3) / 2 + (0 + 3) / 2.
TEST(Join, FollowsNoSync) {
  expect_output(run_ranks(2, "join_no_sync"), "weight -4, seen 4\n");
}

TEST(Join, CanBeFinishedBeforeItsScopeEnds) {
  expect_output(run_ranks(2, "join_finish"), "weight -2.5, seen 2\n");
}

TEST(Join, ThrowsOnAllRanksWhereItShall) {
  const auto ranks = run_ranks(3, "join_throwing");
  for (const Ended& each : ranks) EXPECT_EQ(each.exit_code, kDdpError) << describe(ranks);
  EXPECT_THAT(ranks[0].err, HasSubstr("[rank 0] join: this rank has no more inputs, but others "
                                      "have, and throw_on_early_termination is set"));
  EXPECT_THAT(ranks[1].err, HasSubstr("[rank 1] join: another rank has no more inputs"));
  EXPECT_THAT(ranks[2].err, HasSubstr("[rank 2] join: another rank has no more inputs"));
}

// Gradients (1 + 2) / 2 twice; rank 1 has seen one more, and then rank 0's number.
TEST(Join, TheRanksTrainOnAfterItHasThrown) {
  expect_output(run_ranks(2, "join_throwing_and_go_on"), "thrown\nranks: 2\nweight -3, seen 2\n");
}

// 3 / 2, then 2 / 2.
TEST(Join, AStaticGraphNeedsNoMapOfUsedParameters) {
  expect_output(run_ranks(2, "join_static_graph"), "weight -2.5, seen 2\n");
}

TEST(Join, IsRefusedWhereNobodyCanStandIn) {
  const auto ranks = run_ranks(1, "join_refused");
  EXPECT_THAT(ranks[0].out, HasSubstr("[rank 0] join: the parameter 1.weight has sparse gradients"))
      << describe(ranks);
  const std::string refusal = "[rank 0] join: it cannot be used with skip_all_reduce_unused_params";
  EXPECT_THAT(ranks[0].out + ranks[0].err,
              AnyOf(HasSubstr(refusal), HasSubstr("does not have the option")));
  EXPECT_THAT(ranks[0].out, Not(HasSubstr("not refused")));
}

TEST(Join, AnExceptionPassesWithoutWaitingForTheOthers) {
  const auto ranks = run_ranks(2, "join_left_by_an_exception");
  EXPECT_EQ(ranks[1].exit_code, kOtherError) << describe(ranks);
  EXPECT_THAT(ranks[1].err, HasSubstr("my data is broken"));
  EXPECT_EQ(ranks[0].exit_code, kDdpError) << describe(ranks);
  EXPECT_THAT(ranks[0].err,
              ContainsRegex(".rank 0. (all_reduce|broadcast) failed: .*Rank 1 has ended"));
}

TEST(Join, ALostRankIsAnErrorOnTheRanksThatHaveJoined) {
  const auto ranks = run_ranks(2, "join_peer_lost");
  EXPECT_EQ(ranks[0].exit_code, kDdpError) << describe(ranks);
  EXPECT_THAT(ranks[0].err, HasSubstr("Rank 1 has ended or lost its connection"));
}

}  // namespace
}  // namespace ddp::test
