// The rarer options of DistributedDataParallel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/worker_sdk/job.h"

namespace ddp::test {
namespace {

using testing::HasSubstr;

constexpr int kDdpError = 3;

void expect_outputs(const std::vector<Ended>& ranks, const std::vector<std::string>& outs) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    EXPECT_EQ(ranks[rank].exit_code, 0) << describe(ranks);
    EXPECT_EQ(ranks[rank].out, outs[rank]);
  }
}

// Buffers still follow rank 0 before a forward.
TEST(Options, WithoutInitSyncNothingIsSentAtConstruction) {
  expect_outputs(run_ranks(2, "option_no_init_sync"),
                 {"constructed: weight 1, count 1\nafter forward: weight 1, count 10\n",
                  "constructed: weight 2, count 2\nafter forward: weight 2, count 10\n"});
}

TEST(Options, ForwardSyncBuffersDecidesAboutForwardOnly) {
  expect_outputs(run_ranks(2, "option_forward_sync_off"),
                 {"constructed: weight 1, count 1\nafter forward: weight 1, count 10\n",
                  "constructed: weight 1, count 1\nafter forward: weight 1, count 11\n"});
  const std::string synced = "constructed: weight 1, count 1\nafter forward: weight 1, count 10\n";
  expect_outputs(run_ranks(2, "option_forward_sync_on"), {synced, synced});
}

struct Newer {
  const char *scenario, *option, *buckets;
};
const Newer kNewer[] = {
    {"option_cap_list", "bucket_cap_mb_list", "800, 800 then 800, 800"},
    {"option_batched_copy", "batched_grad_copy", "1600 then 1600"},
    {"option_lazy_buckets", "lazy_bucket_allocation", "1600 then 1600"},
};

// The build says which of them this LibTorch has.
TEST(Options, ThoseOfNewerVersionsWorkThereAndAreRefusedByNameBefore) {
  for (const Newer& each : kNewer) {
    const bool there =
        std::string(DDPRUN_TEST_NEWER_OPTIONS " ").find(std::string(each.option) + " ") !=
        std::string::npos;
    const auto ranks = run_ranks(2, each.scenario);
    for (const Ended& rank : ranks) {
      EXPECT_EQ(rank.exit_code, there ? 0 : kDdpError) << describe(ranks);
      if (there) {
        EXPECT_EQ(rank.out, std::string("as one process: 1\nbuckets: ") + each.buckets + "\n");
      } else {
        EXPECT_THAT(rank.err,
                    HasSubstr(std::string("this version of LibTorch does not have the option ") +
                              each.option));
      }
    }
  }
}

TEST(Options, ABucketMayHoldEverything) {
  const auto ranks = run_ranks(2, "option_endless_buckets");
  expect_outputs(ranks, {2, "as one process: 1\nbuckets: 1600 then 1600\n"});
}

TEST(Options, AnUnneededOneIsSaid) {
  const auto ranks = run_ranks(1, "option_twice_unused");
  EXPECT_EQ(ranks[0].exit_code, 0) << describe(ranks);
  EXPECT_THAT(ranks[0].err, HasSubstr("[rank 0] DistributedDataParallel: find_unused_parameters is "
                                      "not needed with static_graph"));
}

TEST(Options, SizesThatMakeNoSenseAreRefused) {
  expect_outputs(run_ranks(1, "option_wrong"),
                 {"[rank 0] DistributedDataParallel: bucket_cap_mb must be more than 0\n"
                  "[rank 0] DistributedDataParallel: each number in bucket_cap_mb_list must be "
                  "more than 0\n"
                  "[rank 0] DistributedDataParallel: cuda:0 does not exist, no GPU is usable; "
                  "ddp::local_device() returns this rank's GPU, or the CPU\n"});
}

}  // namespace
}  // namespace ddp::test
