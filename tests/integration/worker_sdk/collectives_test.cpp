// Collectives between real ranks, against values computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/integration/worker_sdk/job.h"

namespace ddp::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

constexpr int kDdpError = 3;  // the worker's exit code when a ddp::Error left the scenario

void expect_outputs(const std::vector<Ended>& ranks, const std::vector<std::string>& outputs) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    EXPECT_EQ(ranks[i].exit_code, 0) << describe(ranks);
    EXPECT_EQ(ranks[i].out, outputs[i]) << describe(ranks);
  }
}

TEST(Collectives, ReduceAndGatherFollowTheRanks) {
  const std::string all =
      "complex: 6 -6 60 -60\n"
      "into tensor: 1 10 2 20 3 30\n"
      "columns: 0 2 1 3 10 12 11 13 20 22 21 23\n";
  expect_outputs(
      run_ranks(3, "reduce_and_gather"),
      {all + "gather has 0\n", "reduce: 6 60\n" + all + "gather has 0\n",
       "average: 2 20\n" + all + "gather has 3\ngather: 1 10\ngather: 2 20\ngather: 3 30\n"});
}

TEST(Collectives, ScatterAndExchangeHandOutParts) {
  expect_outputs(
      run_ranks(3, "scatter_and_exchange"),
      {"scatter: 100\nSUM: 6 0\nAVG: 2 0\nMAX: 3 0\ntensor: 0 6\nexchanged has 3\n"
       "exchanged: 0\nexchanged: 10\nexchanged: 20\nsingle: 0 10 20\nsplit:\n",
       "scatter: 101\nSUM: 6 3\nAVG: 2 1\nMAX: 3 1\ntensor: 12 18\nexchanged has 3\n"
       "exchanged: 1 1\nexchanged: 11 11\nexchanged: 21 21\nsingle: 1 11 21\nsplit: 0 10 20\n",
       "scatter: 102\nSUM: 6 6\nAVG: 2 2\nMAX: 3 2\ntensor: 24 30\nexchanged has 3\n"
       "exchanged: 2 2 2\nexchanged: 12 12 12\nexchanged: 22 22 22\nsingle: 2 12 22\n"
       "split: 1 2 11 12 21 22\n"});
}

TEST(Collectives, MessagesAndTextsArrive) {
  const std::string texts = "text of ++2|\n<text of 0>\n<>\n<text of ++2>\n";
  const std::string refused =
      "[rank 1] recv: a wait with a limit would end the whole group, as Gloo does it: wait without "
      "one, in a group with a shorter timeout (new_group)\n";
  expect_outputs(run_ranks(3, "messages"),
                 {"from 2\nring: 3 30\nany source is right: 1\nany source is right: 1\n" + texts,
                  "from 0\nring: 1 10\nnot yet from -1\n" + refused + "irecv from 2\n" + texts,
                  "from 1\nring: 2 20\n" + texts});
}

TEST(Collectives, InASubGroupRootsAreGlobalRanksAndOthersDoNothing) {
  const auto ranks = run_ranks(3, "in_a_sub_group");
  ASSERT_EQ(ranks.size(), 3u);
  for (const Ended& each : ranks) EXPECT_EQ(each.exit_code, 0) << describe(ranks);
  EXPECT_THAT(ranks[0].out, HasSubstr("scatter: 5\ngather has 0\n2|2|")) << describe(ranks);
  EXPECT_EQ(ranks[1].out, "scatter: 0\ngather has 0\nsource -1\n|0|1\n");
  EXPECT_THAT(ranks[2].out, HasSubstr("scatter: 6\ngather has 2\ngather: 1 10\ngather: 3 30\n"
                                      "reduce: 4 40\nsource 0\n2|2|"));
  for (const char* name : {"scatter", "gather", "reduce", "recv", "monitored_barrier"}) {
    EXPECT_THAT(ranks[1].err, HasSubstr("[rank 1] " + std::string(name) + " does nothing: "));
  }
}

TEST(Collectives, AnAsynchronousOneIsOverAfterWait) {
  const auto ranks = run_ranks(2, "asynchronous");
  const std::string after =
      "average has 1\naverage: 1.5 15\nonce only: 1.5 15\n"
      "completed: 1, success: 1, exception: 0\n"
      "gathered has 2\ngathered: 1 10\ngathered: 2 20\nexchanged has 2\n";
  expect_outputs(
      ranks,
      {"completed: 0, success: 0\n[rank 0] all_reduce is not over after 0.1 s; it goes on\n" +
           after + "exchanged: 1 1\nexchanged: 2 2\n",
       after + "exchanged: 1 1\nexchanged: 1 1\n"});
}

TEST(Collectives, EveryOtherAsynchronousOneIsOverAfterWaitToo) {
  expect_outputs(run_ranks(2, "asynchronous_parts"),
                 {"reduce is over: 0\nreduce: 1.5 15\n"
                  "broadcast is over: 0\nbroadcast: 2 20\n"
                  "gather is over: 0\ngather: 1 10\ngather: 2 20\n"
                  "scatter is over: 0\nscatter: 5\n"
                  "reduce_scatter is over: 0\nreduce_scatter: 1.5 15\n"
                  "reduce_scatter_tensor is over: 0\nreduce_scatter_tensor: 0 3\n"
                  "all_to_all_single is over: 0\nall_to_all_single: 0 10\n",
                  "broadcast: 2 20\nscatter: 6\nreduce_scatter: 3 30\n"
                  "reduce_scatter_tensor: 6 9\nall_to_all_single: 1 11\n"});
}

TEST(Collectives, AnAsynchronousOneKeepsItsFailure) {
  const auto ranks = run_ranks(2, "asynchronous_and_lost");
  EXPECT_EQ(ranks[1].signal, SIGKILL);
  EXPECT_EQ(ranks[0].exit_code, kDdpError) << describe(ranks);
  EXPECT_EQ(ranks[0].out, "completed: 1, success: 0\n");
  EXPECT_THAT(ranks[0].err,
              ContainsRegex("ddp::Error: \\[rank 0\\] all_gather[a-z_]* failed: .*Rank 1 "
                            "has ended or lost its connection"));
}

TEST(Collectives, AMonitoredBarrierNamesTheRankOnEveryOther) {
  const StoreHost store;
  std::vector<Child> children;
  for (int rank = 0; rank < 3; ++rank) {
    children.emplace_back(std::vector<std::string>{DDPRUN_TEST_WORKER, "monitored"},
                          rank_environment(rank, 3, store.port()));
  }
  for (const int rank : {0, 2}) {
    const Ended ended = children[static_cast<std::size_t>(rank)].wait(in(std::chrono::seconds(60)));
    EXPECT_EQ(ended.exit_code, kDdpError) << ended.err;
    EXPECT_EQ(ended.out, "passed\n");
    EXPECT_THAT(ended.err, HasSubstr("ddp::Error: [rank " + std::to_string(rank) +
                                     "] monitored_barrier: waited up to 2.0 s for 3 ranks. Did "
                                     "not come: 1. "));
  }
}

// Nothing has been sent then, so that the group can still be used.
TEST(Collectives, ArgumentsThatDoNotFitAreRefusedWithAText) {
  const auto ranks = run_ranks(2, "refused_arguments");
  expect_outputs(
      {ranks[0]},
      {"[rank 0] reduce: rank 7 does not belong to the group of ranks 0, 1\n"
       "[rank 0] broadcast: rank 1 does not belong to the group of ranks 0\n"
       "[rank 0] all_reduce: the tensor is an undefined tensor\n"
       "[rank 0] all_reduce: the tensor has 16-bit integers (Short), which Gloo does not know; use "
       "32-bit ones\n"
       "[rank 0] all_reduce: AVG of integers (Long): use SUM, or a floating type\n"
       "[rank 0] all_reduce: BXOR needs integers and the tensor is Float\n"
       "[rank 0] all_reduce: PREMUL_SUM exists with NCCL only; multiply the tensor and use SUM\n"
       "[rank 0] all_reduce: MAX of complex numbers does not exist\n"
       "[rank 0] all_reduce: the tensor is on meta, but backend gloo serves the CPU only\n"
       "[rank 0] all_reduce: the tensor is not contiguous; pass a contiguous tensor and copy the "
       "result\n"
       "[rank 0] all_gather: outputs has 1 elements for 2 ranks\n"
       "[rank 0] all_gather: outputs[1] is [4] Float and not [2] Float\n"
       "[rank 0] all_gather_into_tensor: output is [2] Float and input [2] Float; it must have the "
       "same type and 2 times as many elements, one part for each rank\n"
       "[rank 0] gather: outputs is for dst only, rank 1; it must be empty on the other ranks\n"
       "[rank 0] scatter: inputs has 1 elements for 2 ranks\n"
       "[rank 0] reduce_scatter: inputs[1] is [4] Float and not [2] Float\n"
       "[rank 0] reduce_scatter_tensor: input is [4] Double and output [2] Float; it must have the "
       "same type and 2 times as many elements, one part for each rank\n"
       "[rank 0] all_to_all: inputs has 1 elements for 2 ranks\n"
       "[rank 0] all_to_all_single: input has 3 rows, which 2 ranks cannot share equally; pass "
       "split sizes\n"
       "[rank 0] all_to_all_single: output_split_sizes add up to 3, but output has 4 rows\n"
       "[rank 0] send: rank 0 is this rank itself\n"
       "[rank 0] monitored_barrier: the timeout must be longer than zero\n"
       "[rank 0] barrier: the timeout of wait must be longer than zero\n"});
  EXPECT_EQ(ranks[1].exit_code, 0) << describe(ranks);
}

}  // namespace
}  // namespace ddp::test
