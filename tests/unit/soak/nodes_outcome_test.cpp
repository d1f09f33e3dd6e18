#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/integration/multi_node/soak/outcome.h"

namespace ddprun::nodes_soak {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Scenario with(Fault fault, Scenario scenario = {}) {
  scenario.faults.push_back(fault);
  return scenario;
}

const Fault kExit{.kind = FaultKind::worker_exits, .node = 2, .number = 41};
const Fault kKill{.kind = FaultKind::launcher_killed, .node = 1};
const Fault kDaemon{.kind = FaultKind::daemon_killed};
const std::string kRank2 = "ddprun: rank 2 failed first: exit code 41\n";
const std::string kNode1 = "ddprun: node node1 is lost: its connection was reset\n";

// All four ended so; rank 2 was hit.
Observation all_with(int code, const std::string& err) {
  Observation seen{.ranks = {2}};
  for (int node = 0; node < kNodes; ++node)
    seen.lives.push_back({.node = node, .code = code, .err = err});
  return seen;
}

Observation all_well(int workers = 1) {
  Observation seen = all_with(0, "");
  for (int rank = 0; rank < kNodes * workers; ++rank)
    seen.met.push_back({.token = "a",
                        .world = kNodes * workers,
                        .rank = rank,
                        .local_rank = rank % workers,
                        .node = rank / workers});
  return seen;
}

TEST(NodesOutcomeTest, AFailedWorkerGivesAllNodesItsCodeAndItsName) {
  const Scenario scenario = with(kExit);
  EXPECT_FALSE(may_go_on(scenario));
  EXPECT_THAT(wrong_with(scenario, all_with(41, kRank2)), IsEmpty());
  EXPECT_THAT(wrong_with(scenario, all_with(125, kRank2)), HasSubstr("node0 ended with 125"));
  EXPECT_THAT(wrong_with(scenario, all_with(41, "rank 1 failed first: exit code 41")),
              HasSubstr("instead of 41 ('rank 2 failed first: exit code 41')"));
  EXPECT_THAT(wrong_with(scenario, all_well()), HasSubstr("ended with 0 instead of 41"));
}

TEST(NodesOutcomeTest, WithARestartTheJobGoesOn) {
  const Scenario scenario = with(kExit, {.restarts = 1});
  EXPECT_TRUE(may_go_on(scenario));
  EXPECT_THAT(wrong_with(scenario, all_well()), IsEmpty());
  EXPECT_THAT(wrong_with(scenario, all_with(41, kRank2)), HasSubstr("ended with 41 instead of 0"));
}

TEST(NodesOutcomeTest, ALostNodeEndsTheOthersWithItsName) {
  const Scenario scenario = with(kKill);
  Observation seen = all_with(125, kNode1);
  seen.lives[1] = {.node = 1, .signal = SIGKILL};
  EXPECT_THAT(wrong_with(scenario, seen), IsEmpty());
  seen.lives[1] = {.node = 1, .code = 3};
  EXPECT_THAT(wrong_with(scenario, seen), HasSubstr("node1 ended with 3, which nothing explains"));
  EXPECT_THAT(wrong_with(scenario, all_with(125, "node node2 is lost: ")),
              HasSubstr("instead of 125"));
}

TEST(NodesOutcomeTest, AnElasticJobGetsOverIt) {
  const Scenario scenario = with(kKill, {.by_arrival = true, .min_nodes = 2});
  EXPECT_TRUE(may_go_on(scenario));
  EXPECT_THAT(wrong_with(scenario, all_with(125, kNode1)), HasSubstr("instead of 0"));
}

TEST(NodesOutcomeTest, OfTwoFaultsEitherMayWinButForAll) {
  const Scenario scenario = with(kKill, with(kExit));
  Observation seen = all_with(41, kRank2);
  EXPECT_THAT(wrong_with(scenario, seen), IsEmpty());
  seen.lives[3] = {.node = 3, .code = 125, .err = kNode1};
  EXPECT_THAT(wrong_with(scenario, seen), HasSubstr("one cause for all"));
}

TEST(NodesOutcomeTest, ARendezvousThatComesBackIsNoReasonToEnd) {
  EXPECT_TRUE(may_go_on(with(kDaemon)));
  EXPECT_THAT(wrong_with(with(kDaemon), all_well()), IsEmpty());
  EXPECT_THAT(wrong_with(with(kDaemon), all_with(125, "the rendezvous is lost")),
              HasSubstr("ended with 125 instead of 0"));
}

TEST(NodesOutcomeTest, ANewRendezvousDoesNotKnowWhatItHasMissed) {
  Fault kill = kKill;
  EXPECT_FALSE(may_go_on(with(kill, with(kDaemon))));
  kill.comes_back = true;
  EXPECT_TRUE(may_go_on(with(kill, with(kDaemon))));
  EXPECT_TRUE(may_go_on(with({.kind = FaultKind::link_cut, .node = 1}, with(kDaemon))));
}

TEST(NodesOutcomeTest, AShortSilenceIsBorneAndALongOneIsALoss) {
  Fault silence{.kind = FaultKind::link_frozen, .node = 1, .lasts = std::chrono::milliseconds(100)};
  EXPECT_TRUE(may_go_on(with(silence)));
  EXPECT_THAT(wrong_with(with(silence), all_with(125, kNode1)), HasSubstr("instead of 0"));
  silence.lasts = kPing * (kPings + 2);
  EXPECT_FALSE(may_go_on(with(silence)));
  EXPECT_THAT(wrong_with(with(silence), all_with(125, kNode1)), IsEmpty());
}

TEST(NodesOutcomeTest, NobodyMayBeStuck) {
  Observation seen = all_well();
  seen.lives[2].timed_out = true;
  EXPECT_THAT(wrong_with(with(kDaemon), seen), HasSubstr("node2 did not end"));
}

TEST(NodesOutcomeTest, WhoComesTooLateIsAlone) {
  Scenario scenario = with(kKill, {.restarts = 1});
  Observation seen = all_well();
  seen.lives[1] = {.node = 1, .signal = SIGKILL};
  seen.lives.push_back({.node = 1, .again = true, .code = 125});
  EXPECT_THAT(wrong_with(scenario, seen), IsEmpty());
  seen.lives.back().code = 9;
  EXPECT_THAT(wrong_with(scenario, seen), HasSubstr("node1, started again, ended with 9"));
}

TEST(NodesOutcomeTest, AJobThatEndedWellHadAWholeWorld) {
  Observation seen = all_well();
  seen.met.pop_back();
  EXPECT_THAT(wrong_with(with(kDaemon), seen), HasSubstr("not all ranks"));
}

}  // namespace
}  // namespace ddprun::nodes_soak
