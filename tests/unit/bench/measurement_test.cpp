#include "tests/bench/measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/bench/table.h"

namespace ddprun::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

Probe probe(Row row) {
  return {{std::move(row)}, {}};
}

// A floor and what is compared with it; in the second round the machine was ten times slower.
std::vector<Block> slow_second_round(Goal goal) {
  Row floor{"floor", "ms"}, ours{"ours", "ms", goal, "floor"};
  floor.values = {1.0, 10.0, 1.0};
  ours.values = {2.0, 20.0, 2.0};
  return {{"launch", {probe(floor), probe(ours)}}};
}

TEST(PercentileTest, TakesAValueThatWasMeasured) {
  EXPECT_EQ(percentile({3, 1, 2}, 50), 2);
  EXPECT_EQ(percentile({4, 1, 3, 2, 5}, 10), 1);
  EXPECT_EQ(percentile({4, 1, 3, 2, 5}, 90), 5);
  EXPECT_EQ(percentile({7}, 90), 7);
}

// Of 12 values the third and the tenth, of 6 the outermost.
TEST(MedianIntervalTest, IsTakenFromTheOrderOfTheValues) {
  std::vector<double> values{12, 1, 11, 2, 10, 3, 9, 4, 8, 5, 7, 6};
  EXPECT_EQ(median_interval(values), std::pair(3.0, 10.0));
  EXPECT_EQ(median_interval({6, 5, 4, 3, 2, 1}), std::pair(1.0, 6.0));
  EXPECT_EQ(median_interval({1, 2, 3, 4, 5}), std::nullopt);
}

std::vector<Block> twelve_rounds(double slowest_peer) {
  Row peer{"peer", "ms"}, ours{"ours", "ms", ratio_no_slower(1.05), "peer"};
  for (int round = 0; round < 12; ++round) {
    peer.values.emplace_back(round < 3 ? slowest_peer : 1.0);
    ours.values.emplace_back(1.02);
  }
  return {{"train", {probe(peer), probe(ours)}}};
}

TEST(ResultTest, IsNoSlowerWhenOneLiesInTheInterval) {
  const auto same = results_of(twelve_rounds(1.02)), slower = results_of(twelve_rounds(1.0));
  EXPECT_EQ(same[1].met, true);
  EXPECT_EQ(slower[1].met, false);
  EXPECT_THAT(text_table(same), HasSubstr("1.02 x (1.00 - 1.02)"));
}

TEST(ResultTest, ARatioIsThatOfSingleRounds) {
  const auto results = results_of(slow_second_round(ratio_at_most(2)));
  ASSERT_EQ(results.size(), 2U);
  EXPECT_FALSE(results[0].ratio.has_value());
  EXPECT_EQ(results[1].ratio, 2.0);
  EXPECT_EQ(results[1].median, 2.0);
  EXPECT_EQ(results[1].high, 20.0);
}

TEST(ResultTest, ARatioIsNotThatOfTheMedians) {
  auto blocks = slow_second_round({});
  blocks[0].probes[0].rows[0].values = {1.0, 10.0, 10.0};
  blocks[0].probes[1].rows[0].values = {3.0, 20.0, 2.0};
  EXPECT_EQ(results_of(blocks)[1].ratio, 2.0);
}

TEST(ResultTest, RoundsWithoutAPeerDoNotCount) {
  auto blocks = slow_second_round({});
  blocks[0].probes[0].rows[0].values = {std::nullopt, 5.0, std::nullopt};
  EXPECT_EQ(results_of(blocks)[1].ratio, 4.0);
}

TEST(ResultTest, JudgesByTheGoal) {
  EXPECT_EQ(results_of(slow_second_round(ratio_at_most(2)))[1].met, true);
  EXPECT_EQ(results_of(slow_second_round(ratio_at_most(1.9)))[1].met, false);
  EXPECT_EQ(results_of(slow_second_round(ratio_at_least(2)))[1].met, true);
  EXPECT_EQ(results_of(slow_second_round(ratio_at_least(2.1)))[1].met, false);
  EXPECT_EQ(results_of(slow_second_round(median_at_most(2)))[1].met, true);
  EXPECT_EQ(results_of(slow_second_round(median_at_most(1.9)))[1].met, false);
  EXPECT_EQ(results_of(slow_second_round({}))[1].met, std::nullopt);
}

TEST(ResultTest, WhatWasNotMeasuredHasNoVerdict) {
  Probe missing = probe({"torchrun", "ms", ratio_at_least(100), "ours"});
  missing.missing = "no torchrun";
  const auto results = results_of({{"launch", {missing}}});
  EXPECT_EQ(results[0].met, std::nullopt);
  EXPECT_THAT(text_table(results), HasSubstr("not measured: no torchrun"));
  EXPECT_THAT(markdown_table(results), HasSubstr("not measured: no torchrun"));
  EXPECT_THAT(json({}, 1, results), HasSubstr("\"missing\":\"no torchrun\""));
  EXPECT_THAT(json({}, 1, results), Not(HasSubstr("median")));
}

TEST(TableTest, ShowsGoalAndVerdict) {
  const auto results = results_of(slow_second_round(ratio_at_most(1.9)));
  EXPECT_THAT(text_table(results), HasSubstr("at most 1.9 x"));
  EXPECT_THAT(text_table(results), HasSubstr("MISSED"));
  EXPECT_THAT(markdown_list({{"kernel", "Linux"}}), HasSubstr("* kernel: Linux\n"));
  EXPECT_THAT(json({{"kernel", "Linux"}}, 3, results), HasSubstr("\"met\":false"));
}

TEST(TableTest, ABarInANameDoesNotEndItsCell) {
  Row row{"writer | cat", "ms"};
  row.values = {1.0};
  EXPECT_THAT(markdown_table(results_of({{"output", {probe(row)}}})),
              HasSubstr("writer \\| cat |"));
}

}  // namespace
}  // namespace ddprun::bench
