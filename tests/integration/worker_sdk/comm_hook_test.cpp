// Communication hooks of DistributedDataParallel, and the futures that they work with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/worker_sdk/job.h"

namespace ddp::test {
namespace {

using testing::HasSubstr;

constexpr int kDdpError = 3;

std::string rank_text(std::size_t rank) {
  return "[rank " + std::to_string(rank) + "] ";
}

void expect_outputs(const std::vector<Ended>& ranks, const std::vector<std::string>& outs) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    EXPECT_EQ(ranks[rank].exit_code, 0) << describe(ranks);
    EXPECT_EQ(ranks[rank].out, outs[rank]);
  }
}

void expect_output(const std::vector<Ended>& ranks, const std::string& out) {
  expect_outputs(ranks, std::vector(ranks.size(), out));
}

// Gradients 1 and 2; the hook adds and does not divide. The buckets are rebuilt after one step.
TEST(CommHook, SeesEachBucketAndReplacesTheAveraging) {
  expect_output(run_ranks(2, "hook_sees_buckets"),
                "bucket 0 (last): 9 [3, 2] of [3, 2] [1, 3] of [1, 3] group of 2\n"
                "bucket 0: 3 [1, 3] of [1, 3] group of 2\n"
                "bucket 1 (last): 6 [3, 2] of [3, 2] group of 2\n"
                "gradient: 3\nname: my_sum\n");
}

TEST(CommHook, MaySimplyReturnATensor) {
  expect_outputs(run_ranks(2, "hook_returns_a_tensor"),
                 {"gradient: 10\nname: comm_hook\n", "gradient: 20\nname: comm_hook\n"});
}

TEST(CommHook, MayReturnAPartOfALargerTensor) {
  expect_output(run_ranks(1, "hook_returns_a_view"),
                "gradients: 10 to 10, 20\ngradients: 10 to 10, 20\n");
}

TEST(CommHook, MayBeCompletedByAnotherThread) {
  expect_outputs(run_ranks(2, "hook_is_completed_by_a_thread"),
                 {"gradient: 100\n", "gradient: 200\n"});
}

TEST(CommHook, ItsExceptionsLeaveBackwardAsTheyAre) {
  expect_output(run_ranks(2, "hook_throws"), "OwnError: my hook fell\n");
  expect_output(run_ranks(2, "hook_fails_later"), "OwnError: my callback fell\n");
}

TEST(CommHook, AFutureThatNobodyCompletesEndsWithTheTimeOut) {
  expect_outputs(run_ranks(2, "hook_never_completes"),
                 {"ddp::Error: [rank 0] the communication hook comm_hook did not complete its "
                  "future for bucket 0 within the time-out of the group, 1.0 s: each future needs "
                  "a set_result or a set_exception\n",
                  ""});
}

TEST(CommHook, ATensorThatDoesNotFitIsRefused) {
  const std::string cut =
      "the communication hook cut returned a tensor of size [8] for bucket 0, whose size is [9]\n";
  expect_outputs(run_ranks(2, "hook_returns_another_size"),
                 {"ddp::Error: [rank 0] " + cut, "ddp::Error: [rank 1] " + cut});
  const std::string widen =
      "the communication hook widen returned a tensor of Double on cpu for bucket 0; return one of "
      "Float on cpu, as buffer() is\n";
  expect_outputs(run_ranks(2, "hook_returns_another_type"),
                 {"ddp::Error: [rank 0] " + widen, "ddp::Error: [rank 1] " + widen});
  const std::string none =
      "the communication hook comm_hook returned an undefined tensor for bucket 0, whose size is "
      "[9]\n";
  expect_outputs(run_ranks(2, "hook_returns_nothing"),
                 {"ddp::Error: [rank 0] " + none, "ddp::Error: [rank 1] " + none});
}

TEST(CommHook, CanBeRegisteredOnceAndBeforeTheFirstForward) {
  expect_output(run_ranks(1, "hook_registered_wrongly"),
                "[rank 0] register_comm_hook: the hook is empty\n"
                "name: fp16_compress_hook\n"
                "[rank 0] register_comm_hook: there is a hook already, and it can only be called "
                "once\n");
  const auto ranks = run_ranks(2, "hook_after_forward");
  for (std::size_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(ranks[rank].exit_code, kDdpError) << describe(ranks);
    EXPECT_EQ(ranks[rank].out, "gradient: 1.5\n");
    EXPECT_THAT(ranks[rank].err,
                HasSubstr(rank_text(rank) +
                          "register_comm_hook: it must be called before the first forward"));
  }
}

TEST(CommHook, CompressionOfSparseGradientsIsRefused) {
  const auto ranks = run_ranks(1, "hook_for_sparse_gradients");
  EXPECT_EQ(ranks[0].exit_code, kDdpError) << describe(ranks);
  EXPECT_THAT(ranks[0].err,
              HasSubstr("[rank 0] bf16_compress_hook does not work for sparse gradients"));
}

// Of 1 + 2^-9 and 1 + 2^-12 what is more than 1, times 2^12.
TEST(CommHook, BuiltInOnesKeepAsManyDigitsAsTheirTypesHave) {
  expect_output(run_ranks(2, "hook_precisions"),
                "bf16: 0 0\nbf16 wrapper: 0 0\nexact: 8 1\nfp16: 8 0\nfp16 wrapper: 8 0\n");
}

TEST(Future, FollowsACollectiveAndPassesFailuresOn) {
  expect_output(run_ranks(2, "futures"),
                "average doubled: 3\naverage: 1.5 1\ndone: 0\nOwnError: no value\n"
                "runtime_error: unknown exception\n");
}

}  // namespace
}  // namespace ddp::test
