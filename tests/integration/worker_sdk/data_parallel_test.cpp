// DistributedDataParallel between real ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/integration/worker_sdk/job.h"

namespace ddp::test {
namespace {

using testing::HasSubstr;

constexpr int kDdpError = 3;

// The number behind "name: ", or a failure.
double number(const Ended& rank, const std::string& name) {
  const auto at = rank.out.find(name + ": ");
  if (at == std::string::npos) {
    ADD_FAILURE() << "no " << name << " in: " << rank.out << rank.err;
    return 1e30;
  }
  return std::stod(rank.out.substr(at + name.size() + 2));
}

void expect_output(const std::vector<Ended>& ranks, const std::string& out) {
  for (const Ended& each : ranks) {
    EXPECT_EQ(each.exit_code, 0) << describe(ranks);
    EXPECT_EQ(each.out, out);
  }
}

TEST(DataParallel, GradientsAreThoseOfOneProcessOnTheJoinedBatch) {
  for (const int world_size : {1, 2, 3}) {
    const auto ranks = run_ranks(world_size, "joined_batch");
    for (const Ended& each : ranks) {
      EXPECT_EQ(each.exit_code, 0) << describe(ranks);
      EXPECT_LT(number(each, "largest difference"), 1e-12) << describe(ranks);
    }
  }
}

TEST(DataParallel, NoSyncAddsUpWithoutAveraging) {
  const auto ranks = run_ranks(2, "no_sync");
  for (const Ended& each : ranks) {
    EXPECT_EQ(each.exit_code, 0) << describe(ranks);
    EXPECT_EQ(number(each, "averaged inside"), 0);
    EXPECT_LT(number(each, "largest difference"), 1e-12);
  }
}

TEST(DataParallel, BuffersFollowRankZero) {
  const auto ranks = run_ranks(2, "buffers");
  EXPECT_EQ(ranks[0].out, "at construction: 10 10\nafter forward: 5\ninside no_sync: 7\n")
      << describe(ranks);
  EXPECT_EQ(ranks[1].out, "at construction: 10 20\nafter forward: 5\ninside no_sync: 8\n")
      << describe(ranks);
}

// Only rank 1 uses the layer: its gradient is 3 (samples) times 2, so the average is 3.
TEST(DataParallel, UnusedParametersAreFoundInNestedOutputs) {
  const std::string line = "sometimes: 3.000000, never: undefined\n";
  expect_output(run_ranks(2, "find_unused"), line + line + line);
}

// 3 on rank 0 and 6 on rank 1.
TEST(DataParallel, AStaticGraphMayLeaveParametersOut) {
  const std::string line = "sometimes: 4.500000, never: undefined\n";
  expect_output(run_ranks(2, "static_graph"), line + line + line);
}

TEST(DataParallel, UnusedParametersThatNobodyLookedForAreAnError) {
  const auto ranks = run_ranks(2, "unused_not_looked_for");
  for (const Ended& each : ranks) {
    EXPECT_EQ(each.exit_code, kDdpError) << describe(ranks);
    EXPECT_THAT(each.err, HasSubstr("never.weight, never.bias"));
    EXPECT_THAT(each.err, HasSubstr(": set find_unused_parameters if not all"));
  }
  EXPECT_THAT(ranks[1].err, HasSubstr("[rank 1] DistributedDataParallel failed: "));
}

TEST(DataParallel, AParameterThatIsFrozenTooLateIsNamed) {
  const auto ranks = run_ranks(1, "frozen_after_wrapping");
  EXPECT_THAT(ranks[0].err, HasSubstr("no gradient came for 0.bias: ")) << describe(ranks);
}

TEST(DataParallel, GradientsAsBucketViewsCanBeCleared) {
  expect_output(run_ranks(2, "bucket_view"), "same weights: 1\n");
}

TEST(DataParallel, GradientsAreAveragedWhileBackwardStillRuns) {
  expect_output(run_ranks(2, "overlap"), "in between: 3\n");
}

TEST(DataParallel, EveryRankHearsThatTheModelsDiffer) {
  const auto ranks = run_ranks(3, "different_models");
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(ranks[rank].exit_code, kDdpError) << describe(ranks);
    EXPECT_THAT(
        ranks[rank].err,
        HasSubstr("[rank " + std::to_string(rank) +
                  "] DistributedDataParallel: the models of the "
                  "ranks differ: weight is Float [2, 4] on rank 0 but weight is Float [3, 4] on "
                  "rank 1"));
  }
}

TEST(DataParallel, EveryRankHearsThatAWeightLiesDifferentlyInMemory) {
  const auto ranks = run_ranks(2, "different_strides");
  for (const Ended& each : ranks) {
    EXPECT_EQ(each.exit_code, kDdpError) << describe(ranks);
    EXPECT_THAT(each.err,
                HasSubstr("DistributedDataParallel: the models of the ranks differ: weight "
                          "is Float [4, 3, 2, 2] on rank 0 but weight is Float "
                          "[4, 3, 2, 2] with strides [12, 1, 6, 3] on rank 1"));
  }
}

TEST(DataParallel, AModuleWithNothingToTrainIsRefused) {
  const auto ranks = run_ranks(1, "nothing_to_train");
  EXPECT_EQ(ranks[0].exit_code, kDdpError) << describe(ranks);
  EXPECT_THAT(ranks[0].err, HasSubstr("no parameter of the module requires a gradient"));
}

// Inputs 1 and 3 on ranks 0 and 2: their average is 2, and rank 1 is not asked.
TEST(DataParallel, TrainsInAGroupOfSomeRanks) {
  const auto ranks = run_ranks(3, "group_of_two");
  EXPECT_EQ(ranks[0].out, "gradient: 2\n") << describe(ranks);
  EXPECT_EQ(ranks[1].exit_code, 0);
  EXPECT_EQ(ranks[2].out, "gradient: 2\n");
}

}  // namespace
}  // namespace ddp::test
