// What a user reads when something goes wrong between the ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/integration/support/loopback_port.h"
#include "tests/integration/worker_sdk/job.h"

namespace ddp::test {
namespace {

using std::chrono::seconds;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr int kDdpError = 3;  // the worker's exit code when a ddp::Error left the scenario

std::vector<std::string> worker(const std::string& scenario) {
  return {DDPRUN_TEST_WORKER, scenario};
}

Ended run_alone(const std::string& scenario, const Environment& environment) {
  return Child(worker(scenario), environment).wait(in(seconds(30)));
}

TEST(Failure, MissingVariablesAreListedAtOnce) {
  const Ended ended = run_alone("patient", {{"RANK", "0"}, {"MASTER_ADDR", "127.0.0.1"}});
  EXPECT_EQ(ended.exit_code, kDdpError);
  EXPECT_THAT(ended.err,
              HasSubstr("[rank 0] init_process_group: WORLD_SIZE and MASTER_PORT are not "
                        "set. Start the program with a launcher: ddprun -n 2 PROGRAM"));
}

TEST(Failure, AStoreThatIsNotThereIsNamedWithTheReason) {
  const ddprun::test::LoopbackPort nobody;
  const Ended ended = run_alone("impatient", rank_environment(1, 2, nobody.number()));
  EXPECT_EQ(ended.exit_code, kDdpError) << ended.err;
  EXPECT_THAT(ended.err, ContainsRegex("\\[rank 1\\] init_process_group: the store at 127.0.0.1:" +
                                       std::to_string(nobody.number()) +
                                       " could not be reached in [0-9]+\\.[0-9] s: "
                                       "Connection refused. The launcher hosts it"));
}

TEST(Failure, AHostThatDoesNotExistIsNamed) {
  Environment environment = rank_environment(1, 2, 29500);
  environment["MASTER_ADDR"] = "no-such-host..invalid";  // so that no resolver asks the network
  const Ended ended = run_alone("impatient", environment);
  EXPECT_EQ(ended.exit_code, kDdpError) << ended.err;
  EXPECT_THAT(ended.err,
              HasSubstr("the store at no-such-host..invalid:29500 could not be reached"));
}

TEST(Failure, APortInUseIsSaidByTheRankThatWouldHostTheStore) {
  const StoreHost taken;
  Environment environment = rank_environment(0, 2, taken.port());
  environment.erase("TORCHELASTIC_USE_AGENT_STORE");
  const Ended ended = run_alone("impatient", environment);
  EXPECT_EQ(ended.exit_code, kDdpError) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("[rank 0] init_process_group: hosting the store at 127.0.0.1:" +
                                   std::to_string(taken.port()) +
                                   " failed: the port is in use; "
                                   "choose another MASTER_PORT"));
}

TEST(Failure, ARankThatDoesNotArriveIsNamed) {
  StoreHost store;
  const Child one(worker("patient"), rank_environment(1, 3, store.port()));
  store.wait_for("default_pg/0//cpu//0/1");
  const Ended zero =
      Child(worker("impatient"), rank_environment(0, 3, store.port())).wait(in(seconds(30)));
  EXPECT_EQ(zero.exit_code, kDdpError) << zero.err;
  EXPECT_THAT(zero.err,
              ContainsRegex("\\[rank 0\\] init_process_group: waited [0-9]+\\.[0-9] s for 3 ranks. "
                            "Came: 0, 1. Did not come: 2."));
}

// Two processes, each with an environment of its own and one store.
std::vector<Ended> run_pair(const Environment& first, const Environment& second) {
  const StoreHost store;
  std::vector<Child> children;
  for (const Environment& own : {first, second}) {
    Environment environment = rank_environment(0, 2, store.port());
    for (const auto& [name, value] : own) environment[name] = value;
    children.emplace_back(worker("three_seconds"), environment);
  }
  std::vector<Ended> ended;
  for (Child& child : children) ended.push_back(child.wait(in(seconds(60))));
  return ended;
}

TEST(Failure, DifferentWorldSizesAreNamed) {
  const auto ranks = run_pair({{"RANK", "0"}}, {{"RANK", "1"}, {"WORLD_SIZE", "3"}});
  EXPECT_THAT(ranks[1].err,
              HasSubstr("[rank 1] init_process_group: the world size is 3 here and 2 on rank 0: "
                        "WORLD_SIZE must be the same for all"));
  EXPECT_THAT(ranks[0].err, HasSubstr("the world size is 2 here and 3 on rank 1"));
}

TEST(Failure, TwoProcessesOfOneRankAreNamed) {
  const auto ranks = run_pair({{"RANK", "1"}}, {{"RANK", "1"}});
  EXPECT_THAT(ranks[0].err + ranks[1].err,
              ContainsRegex("\\[rank 1\\] init_process_group: another process has joined as rank 1 "
                            "too, pid [0-9]+ on host .*, beside this one, pid [0-9]+ on host "));
}

TEST(Failure, AKilledPeerIsAnErrorWithTheRankAndNobodyHangs) {
  const auto ranks = run_ranks(3, "lost_peer");
  EXPECT_EQ(ranks[1].signal, SIGKILL);
  for (const std::size_t rank : {0u, 2u}) {
    EXPECT_EQ(ranks[rank].exit_code, kDdpError) << describe(ranks);
    EXPECT_THAT(ranks[rank].err,
                HasSubstr("[rank " + std::to_string(rank) + "] all_reduce failed: "));
    EXPECT_THAT(ranks[rank].err, HasSubstr("Rank 1 has ended or lost its connection"));
    EXPECT_THAT(ranks[rank].err, Not(HasSubstr(".cc:"))) << "places in Gloo's source help nobody";
  }
}

TEST(Failure, APeerThatDoesNotTakePartIsATimeOut) {
  const StoreHost store;
  const Child deaf(worker("deaf_peer"), rank_environment(1, 2, store.port()));
  const Ended zero =
      Child(worker("deaf_peer"), rank_environment(0, 2, store.port())).wait(in(seconds(30)));
  EXPECT_EQ(zero.exit_code, kDdpError) << zero.err;
  EXPECT_THAT(zero.err, HasSubstr("[rank 0] all_reduce failed: Timed out waiting 4000ms"));
  EXPECT_THAT(zero.err, HasSubstr("Rank 1 does not take part"));
}

TEST(Failure, APeerLostInBackwardIsAnErrorWithTheRank) {
  const auto ranks = run_ranks(2, "peer_lost_in_backward");
  EXPECT_EQ(ranks[1].signal, SIGKILL);
  EXPECT_EQ(ranks[0].exit_code, kDdpError) << describe(ranks);
  EXPECT_THAT(ranks[0].err, HasSubstr("ddp::Error: [rank 0] all_reduce failed: "));
}

TEST(Failure, WhatTheBackendRefusesIsAnErrorToo) {
  const auto ranks = run_ranks(1, "wrong_type");
  EXPECT_EQ(ranks[0].exit_code, kDdpError) << describe(ranks);
  EXPECT_THAT(ranks[0].err, HasSubstr("[rank 0] all_reduce failed: "));
}

TEST(Failure, ADeviceIdThatTheBackendCannotUseIsRefused) {
  const auto gloo = run_ranks(1, "gloo_on_a_device");
  EXPECT_EQ(gloo[0].exit_code, kDdpError) << describe(gloo);
  EXPECT_THAT(gloo[0].err, HasSubstr("[rank 0] init_process_group: device_id=cuda:0 with backend "
                                     "gloo: device_id is a GPU, cuda:K, for backend nccl only"));
  const auto nccl = run_ranks(1, "nccl_on_the_cpu");
  EXPECT_EQ(nccl[0].exit_code, kDdpError) << describe(nccl);
  EXPECT_THAT(nccl[0].err, HasSubstr("device_id=cpu with backend nccl"));
}

TEST(Failure, NcclWithoutAGpuIsOneClearError) {
  const auto ranks = run_ranks(1, "want_nccl", {{"CUDA_VISIBLE_DEVICES", ""}});
  EXPECT_EQ(ranks[0].exit_code, kDdpError) << describe(ranks);
  EXPECT_THAT(ranks[0].err,
              HasSubstr("[rank 0] init_process_group: backend nccl needs a GPU and none "
                        "is visible; use gloo"));
}

TEST(Failure, AGpuThatIsNotThereIsNotReplacedByTheCpu) {
  const auto ranks =
      run_ranks(1, "device", {{"DDPRUN_DEVICE", "cuda:0"}, {"CUDA_VISIBLE_DEVICES", ""}});
  EXPECT_EQ(ranks[0].exit_code, kDdpError) << describe(ranks);
  EXPECT_THAT(ranks[0].err,
              HasSubstr("[rank 0] local_device: cuda:0 does not exist, no GPU is usable"));
}

TEST(Failure, GroupsAreAskedForInTheRightOrder) {
  const auto never = run_ranks(1, "no_group");
  EXPECT_THAT(never[0].err,
              HasSubstr("ddp::Error: [rank 0] all_reduce: there is no process group; call "
                        "ddp::init_process_group() first"));
  const auto twice = run_ranks(1, "twice");
  EXPECT_THAT(twice[0].err,
              HasSubstr("ddp::Error: [rank 0] init_process_group: called a second time"));
  const auto after = run_ranks(1, "again_after_destroy");
  EXPECT_EQ(after[0].out, "initialized: 0\n");
  EXPECT_THAT(after[0].err, HasSubstr("ddp::Error: [rank 0] get_rank: there is no process group"));
  const auto unknown = run_ranks(1, "unknown_rank_in_group");
  EXPECT_THAT(
      unknown[0].err,
      HasSubstr("ddp::Error: [rank 0] new_group: rank 7 does not exist; there are ranks 0 to 0"));
  EXPECT_THAT(run_ranks(1, "group_without_time")[0].err,
              HasSubstr("[rank 0] new_group: the timeout must be longer than zero"));
}

}  // namespace
}  // namespace ddp::test
