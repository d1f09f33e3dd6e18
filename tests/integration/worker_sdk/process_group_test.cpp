// Process groups and collectives between real ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/integration/support/loopback_port.h"
#include "tests/integration/worker_sdk/job.h"

namespace ddp::test {
namespace {

using testing::HasSubstr;

void expect_success(const std::vector<Ended>& ranks) {
  for (const Ended& each : ranks) EXPECT_EQ(each.exit_code, 0) << describe(ranks);
}

TEST(ProcessGroup, AllReduceCombinesOnEveryRank) {
  const auto ranks = run_ranks(3, "all_reduce_all_ops");
  expect_success(ranks);
  for (const Ended& each : ranks) {
    EXPECT_EQ(each.out,
              "SUM: 6 60\n"
              "AVG: 2 20\n"
              "PRODUCT: 6 6000\n"
              "MIN: 1 10\n"
              "MAX: 3 30\n"
              "BAND: 2\n"
              "BOR: 7\n"
              "BXOR: 6\n"
              "initialized: 0\n");
  }
}

TEST(ProcessGroup, BroadcastAndAllGatherFollowTheRanks) {
  const auto ranks = run_ranks(3, "broadcast_and_gather");
  expect_success(ranks);
  for (const Ended& each : ranks) {
    EXPECT_EQ(each.out, "broadcast: 3 30\ngathered: 1 10\ngathered: 2 20\ngathered: 3 30\n");
  }
}

TEST(ProcessGroup, ABrokenPipeIsAnErrorAsInPython) {
  const auto ranks = run_ranks(1, "broken_pipe");
  expect_success(ranks);
  EXPECT_EQ(ranks.at(0).out, "refused: 1\n");
}

TEST(ProcessGroup, OneRankIsAGroupToo) {
  const auto ranks = run_ranks(1, "broadcast_and_gather");
  expect_success(ranks);
  EXPECT_EQ(ranks[0].out, "broadcast: 1 10\ngathered: 1 10\n");
}

TEST(ProcessGroup, NewGroupSortsItsRanksAndLeavesOthersAlone) {
  const auto ranks = run_ranks(3, "groups");
  expect_success(ranks);
  EXPECT_EQ(ranks[0].out,
            "rank in outer: 0 of 2\nmember of inner: 0\nouter sum: 4 40\nfrom rank 2: 3 30\n"
            "all max: 4 40\n");
  EXPECT_EQ(ranks[1].out,
            "rank in outer: -1 of -1\nmember of inner: 1\nouter sum: 2 20\nall max: 4 40\n");
  EXPECT_EQ(ranks[2].out,
            "rank in outer: 1 of 2\nmember of inner: 0\nouter sum: 4 40\nfrom rank 2: 3 30\n"
            "all max: 4 40\n");
  EXPECT_THAT(ranks[1].err, HasSubstr("[rank 1] all_reduce does nothing: this rank does not belong "
                                      "to the group of ranks 0, 2"));
}

// Python's layout, or a Python rank would wait for other keys.
TEST(ProcessGroup, KeysAreThoseOfPython) {
  StoreHost store;
  std::vector<Child> children;
  for (int rank = 0; rank < 3; ++rank) {
    children.emplace_back(std::vector<std::string>{DDPRUN_TEST_WORKER, "groups"},
                          rank_environment(rank, 3, store.port()));
  }
  for (Child& child : children) EXPECT_EQ(child.wait(in(std::chrono::seconds(60))).exit_code, 0);
  for (const char* key :
       {"default_pg/0//cpu//0/0", "default_pg/0//cpu//0/2", "default_pg/0//1//cpu//0/1",
        "default_pg/0//2//cpu//0/0", "default_pg/0//3//cpu//0/2"}) {
    EXPECT_TRUE(store.has(key)) << key;
  }
  // Group 1 has two members, and group 2 only one.
  EXPECT_FALSE(store.has("default_pg/0//1//cpu//0/2"));
  EXPECT_FALSE(store.has("default_pg/0//2//cpu//0/1"));
}

TEST(ProcessGroup, RankZeroHostsTheStoreWithoutALauncher) {
  const std::vector<std::string> command{DDPRUN_TEST_WORKER, "patient"};
  const auto ranks = run_hosting({command, command});
  expect_success(ranks);
  EXPECT_EQ(ranks[1].out, "joined as 1 of 2\n");
}

TEST(ProcessGroup, AfterAFailedInitOneCanTryAgain) {
  const ddprun::test::LoopbackPort nobody;
  const StoreHost store;
  Environment environment = rank_environment(0, 1, nobody.number());
  environment["RIGHT_PORT"] = std::to_string(store.port());
  const Ended ended =
      Child({DDPRUN_TEST_WORKER, "second_try"}, environment).wait(in(std::chrono::seconds(60)));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, "initialized: 0\njoined as 0 of 1\n");
}

TEST(ProcessGroup, CanBeDestroyedAndJoinedAgainInOneStore) {
  for (int round = 0; round < 3; ++round) {
    const auto ranks = run_ranks(3, "join_again");
    for (const Ended& each : ranks) {
      EXPECT_EQ(each.exit_code, 0) << describe(ranks);
      EXPECT_EQ(each.out, "1: 6\n2: 6\n3: 6\n");
    }
  }
}

TEST(ProcessGroup, StdoutIsLineBufferedUnderTheLauncherOnly) {
  const auto launched = run_ranks(1, "line_buffered", {{"DDPRUN", "1"}});
  EXPECT_EQ(launched[0].signal, SIGKILL) << describe(launched);
  EXPECT_EQ(launched[0].out, "before the signal\n");
  const auto alone = run_ranks(1, "line_buffered");
  EXPECT_EQ(alone[0].out, "");
}

TEST(ProcessGroup, MemoryOfTheCpuIsKeptForTheNextStepUnlessUnwanted) {
  const auto kept = run_ranks(1, "page_faults");
  EXPECT_THAT(kept[0].out, testing::MatchesRegex("[01]\n")) << describe(kept);
  const auto given_back = run_ranks(1, "page_faults", {{"DDP_TEST_GIVE_BACK", "1"}});
  if (given_back[0].out == "0\n") GTEST_SKIP() << "this LibTorch keeps its memory by itself";
  EXPECT_THAT(given_back[0].out, testing::MatchesRegex("[1-9][0-9]+\n")) << describe(given_back);
}

// One event thread for the default group and one for the other.
TEST(ProcessGroup, GloosEventThreadGivesWayOnOneMachineUnlessUnwanted) {
  for (const Ended& each : run_ranks(2, "nicer_threads")) EXPECT_EQ(each.out, "2\n") << each.err;
  const Environment unwanted{{"DDP_TEST_NOT_NICE", "1"}};
  const Environment two_machines{{"LOCAL_WORLD_SIZE", "1"}, {"LOCAL_RANK", "0"}};
  for (const Environment& environment : {unwanted, two_machines}) {
    for (const Ended& each : run_ranks(2, "nicer_threads", environment))
      EXPECT_EQ(each.out, "0\n") << each.err;
  }
}

TEST(ProcessGroup, ANetworkInterfaceThatDoesNotExistIsNotTakenForMissingRanks) {
  const auto ranks = run_ranks(2, "nicer_threads", {{"GLOO_SOCKET_IFNAME", "nosuch0"}});
  for (const Ended& each : ranks) {
    EXPECT_THAT(each.err, HasSubstr("nosuch0")) << describe(ranks);
    EXPECT_THAT(each.err, testing::Not(HasSubstr("Did not come"))) << describe(ranks);
  }
}

TEST(Device, ASimulatedGpuIsTheCpuAndSaysWhichItWouldHaveBeen) {
  const auto ranks = run_ranks(
      2, "device",
      {{"DDPRUN_DEVICE", ""}, {"DDPRUN_SIMULATED_GPUS", "8"}, {"CUDA_VISIBLE_DEVICES", "1,2,3,4"}});
  EXPECT_EQ(ranks[0].out, "cpu; cpu (simulates cuda:0, GPU 1); 1\n") << describe(ranks);
  EXPECT_EQ(ranks[1].out, "cpu; cpu (simulates cuda:1, GPU 2); 2\n");
}

TEST(Device, IsTheOneThatTheLauncherNames) {
  const auto ranks = run_ranks(1, "device", {{"DDPRUN_DEVICE", "cpu"}});
  EXPECT_EQ(ranks[0].out, "cpu; cpu; \n") << describe(ranks);
}

}  // namespace
}  // namespace ddp::test
