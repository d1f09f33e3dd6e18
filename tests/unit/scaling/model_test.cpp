// What the model of large jobs computes from round costs.
#include "tests/bench/scaling/model.h"

#include <gtest/gtest.h>

namespace ddprun::bench::scaling {
namespace {

constexpr Cluster kCluster{.ranks_per_node = 8, .round_trip_us = 100, .gigabits = 8};

// A rank costs 50 us and 1,000 bytes in memory and on the wire, whatever their number.
Costs costs() {
  return {.rank_cpu = {.at_1000 = 50},
          .rank_wall = {.at_1000 = 80},
          .rank_memory = 1000,
          .rank_wire = 1000,
          .operation_cpu = 5,
          .agent_cpu = 30,
          .entry_cpu = 0.01,
          .agent_wire = 1000,
          .entry_wire = 50,
          .failure = {.at_1000 = 20}};
}

TEST(Growing, GoesThroughBothPoints) {
  const Growing cost = Growing::through(500, 40, 2'000, 46);
  EXPECT_NEAR(cost.at(500), 40, 1e-9);
  EXPECT_NEAR(cost.at(2'000), 46, 1e-9);
  EXPECT_NEAR(cost.at(1'000), 43, 1e-9);
  EXPECT_NEAR(cost.at(10'000) - cost.at(1'000), cost.tenfold, 1e-9);
}

TEST(Store, TakesTheTimeOfItsCpuAndSixRoundTrips) {
  const Prediction all = predict(costs(), kCluster, 10'000);
  EXPECT_DOUBLE_EQ(all.nodes, 1'250);
  EXPECT_DOUBLE_EQ(all.store_cpu, 500);
  EXPECT_DOUBLE_EQ(all.store_wire, 10);  // 10 MB at 1 GB/s
  EXPECT_DOUBLE_EQ(all.store, 500.6);
  EXPECT_DOUBLE_EQ(all.store_megabytes, 10);
  EXPECT_DOUBLE_EQ(all.behind_queue, 10'000 - 4'096);
  EXPECT_DOUBLE_EQ(predict(costs(), kCluster, 4'000).behind_queue, 0);
}

TEST(Store, TakesTheTimeOfItsBytesWhereTheNetworkIsSlow) {
  Cluster slow = kCluster;
  slow.gigabits = 0.08;
  EXPECT_DOUBLE_EQ(predict(costs(), slow, 10'000).store, 1'000.6);
}

TEST(Proxy, LeavesTheHeadOneConnectionOfEachNodeAndWhatCannotBeShared) {
  // 1,250 nodes connect for 25 us each; 30,000 ADDs and SETs, and a WAIT and a GET of each node.
  EXPECT_NEAR(predict(costs(), kCluster, 10'000).proxied_store, 31.25 + 32'500 * 0.005 + 0.7, 1e-9);
}

TEST(Join, SendsEachAgentTheWholeAssignment) {
  const Prediction all = predict(costs(), kCluster, 8'000);
  EXPECT_DOUBLE_EQ(all.join_wire_megabytes, 1'000 * (1'000 + 1'000 * 50) / 1e6);
  EXPECT_DOUBLE_EQ(predict_join_cpu(costs(), 1'000), 1'000 * (30 + 10) / 1e3);
  EXPECT_DOUBLE_EQ(all.join, 51 + 0.2) << "the bytes, which take longer than the CPU";
}

TEST(Failure, TakesTheTimeOfAllAgentsAndTwoRoundTrips) {
  EXPECT_DOUBLE_EQ(predict(costs(), kCluster, 8'000).failure, 20 + 0.2);
}

TEST(Simulation, IsPredictedFromTheSameCosts) {
  EXPECT_DOUBLE_EQ(predict_storm(costs(), 5'000).wall, 400);
  EXPECT_DOUBLE_EQ(predict_storm(costs(), 5'000).cpu, 250);
}

TEST(CostsText, IsReadAsItWasWritten) {
  const std::string text = to_text(costs());
  const auto read = parse_costs(text);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(to_text(*read), text);
  EXPECT_DOUBLE_EQ(read->entry_cpu, 0.01);
  EXPECT_DOUBLE_EQ(read->failure.at_1000, 20);
}

TEST(CostsText, NamesWhatItCannotRead) {
  EXPECT_EQ(parse_costs("rank_cpu=1 rank=2").error().text,
            "'rank=2' is no cost; write NAME=NUMBER");
  EXPECT_FALSE(parse_costs("rank_cpu").has_value());
  EXPECT_FALSE(parse_costs("rank_cpu=1x").has_value());
}

}  // namespace
}  // namespace ddprun::bench::scaling
