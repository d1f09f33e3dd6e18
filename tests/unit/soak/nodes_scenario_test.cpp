#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/integration/multi_node/soak/actions.h"
#include "tests/integration/multi_node/soak/outcome.h"
#include "tests/integration/multi_node/soak/scenario.h"

namespace ddprun::nodes_soak {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(NodesScenarioTest, OneSeedIsOneRound) {
  for (std::uint64_t seed = 1; seed < 50; ++seed)
    EXPECT_EQ(describe(scenario_of(seed)), describe(scenario_of(seed)));
  EXPECT_NE(describe(scenario_of(1)).substr(7), describe(scenario_of(2)).substr(7));
}

TEST(NodesScenarioTest, EverythingHappensSometimes) {
  std::string all;
  for (std::uint64_t seed = 1; seed < 500; ++seed) all += describe(scenario_of(seed)) + "\n";
  for (const char* text :
       {"static", "by arrival", "2:4 nodes", "done at once", "while joining", "a worker exits",
        "a worker is killed", "launcher killed", "guardian killed", "told to stop",
        "launcher stopped", "link cut", "link frozen", "rdzvd killed", "rdzvd ended",
        "rdzvd stopped", "run cancelled", "newcomer", "started again"})
    EXPECT_THAT(all, HasSubstr(text));
}

TEST(NodesScenarioTest, ItsFaultsConcernDifferentNodes) {
  for (std::uint64_t seed = 1; seed < 500; ++seed) {
    const Scenario scenario = scenario_of(seed);
    for (const Fault& fault : scenario.faults) {
      const bool of_worker =
          fault.kind == FaultKind::worker_exits || fault.kind == FaultKind::worker_killed;
      EXPECT_FALSE(of_worker && fault.node == scenario.early) << describe(scenario);
    }
    EXPECT_TRUE(scenario.faults.size() == 1 || scenario.faults[0].node != scenario.faults[1].node)
        << describe(scenario);
  }
}

// Else a job that waits for its fourth node would only ever give up.
TEST(NodesScenarioTest, ANodeThatIsWaitedForComesBack) {
  for (std::uint64_t seed = 1; seed < 500; ++seed) {
    const Scenario scenario = scenario_of(seed);
    const bool waits = scenario.restarts > 0 && scenario.min_nodes == kNodes;
    for (const Fault& fault : scenario.faults)
      EXPECT_TRUE(fault.kind != FaultKind::launcher_killed || !waits || fault.comes_back)
          << describe(scenario);
  }
}

TEST(NodesScenarioTest, TheCommandLineSaysWhatTheScenarioIs) {
  Scenario scenario{.seed = 7, .workers = 2, .restarts = 1};
  auto words = command_of(scenario, 3, 29'400, "/worker");
  EXPECT_THAT(words, Contains("--node-rank"));
  EXPECT_THAT(words, Contains("29400"));
  EXPECT_THAT(words, Contains("soak-7"));
  EXPECT_EQ(words.back(), "/worker");
  scenario.by_arrival = true;
  scenario.min_nodes = 2;
  words = command_of(scenario, 3, 29'400, "/worker");
  EXPECT_THAT(words, Not(Contains("--node-rank")));
  EXPECT_THAT(words, Contains("2:4"));
  EXPECT_THAT(words, Contains("127.0.0.1:29400"));
}

TEST(NodesActionsTest, WhatLastsHasAnEnd) {
  const Scenario scenario{.faults = {{.kind = FaultKind::link_cut,
                                      .node = 1,
                                      .after = milliseconds(5),
                                      .lasts = milliseconds(90)},
                                     {.kind = FaultKind::daemon_killed,
                                      .after = milliseconds(10),
                                      .lasts = milliseconds(20)}}};
  const auto all = actions_of(scenario);
  ASSERT_EQ(all.size(), 5u);
  const std::vector<std::pair<Act, std::size_t>> wanted{
      {Act::begin, 0}, {Act::begin, 1}, {Act::release, 0}, {Act::end, 1}, {Act::end, 0}};
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(std::pair(all[i].act, all[i].fault), wanted[i]) << i;
  EXPECT_EQ(all.back().at, milliseconds(95));
}

TEST(NodesActionsTest, WhoCannotGetOverItIsNotReleased) {
  const Scenario scenario{.faults = {{.kind = FaultKind::launcher_killed, .node = 1}}};
  EXPECT_THAT(actions_of(scenario), testing::SizeIs(1));
}

TEST(NodesActionsTest, ACancellationNeedsTheRendezvous) {
  const Scenario scenario{
      .faults = {{.kind = FaultKind::daemon_killed, .lasts = milliseconds(200)},
                 {.kind = FaultKind::cancelled, .node = 1, .after = milliseconds(10)}}};
  const auto all = actions_of(scenario);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].act, Act::end);
  EXPECT_EQ(all[2].fault, 1u);
}

TEST(NodesActionsTest, AWorkerIsHitInAWholeWorld) {
  Scenario scenario{.by_arrival = true,
                    .min_nodes = 2,
                    .faults = {{.kind = FaultKind::link_cut, .node = 0, .lasts = milliseconds(200)},
                               {.kind = FaultKind::worker_exits, .node = 1, .number = 33}}};
  EXPECT_TRUE(may_go_on(scenario));
  EXPECT_EQ(actions_of(scenario)[1].act, Act::end);
  scenario.faults[0].kind = FaultKind::daemon_killed;
  EXPECT_FALSE(may_go_on(scenario));
  EXPECT_EQ(actions_of(scenario)[1].fault, 1u);
}

}  // namespace
}  // namespace ddprun::nodes_soak
