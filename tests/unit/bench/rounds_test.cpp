#include "tests/bench/rounds.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace ddprun::bench {
namespace {

std::vector<Block> one_probe(std::function<std::vector<double>()> measure, int most_rounds = 1000) {
  return {{"group", {{{{"row", "ms"}}, std::move(measure), most_rounds}}}};
}

TEST(RoundsTest, MeasuresOnceInEachRound) {
  int calls = 0;
  auto blocks = one_probe([&] { return std::vector{static_cast<double>(++calls)}; });
  EXPECT_TRUE(measure(blocks, 5));
  EXPECT_EQ(present(blocks[0].probes[0].rows[0].values), (std::vector<double>{1, 2, 3, 4, 5}));
}

TEST(RoundsTest, SpreadsWhatHasFewerRounds) {
  auto blocks = one_probe([] { return std::vector{1.0}; }, 2);
  EXPECT_TRUE(measure(blocks, 10));
  const auto& values = blocks[0].probes[0].rows[0].values;
  ASSERT_EQ(values.size(), 10U);
  EXPECT_EQ(present(values).size(), 2U);
  EXPECT_TRUE(values[0].has_value()) << "so that one round measures everything";
}

TEST(RoundsTest, LeavesOutWhatIsMissing) {
  auto blocks = one_probe([]() -> std::vector<double> { throw std::logic_error("called"); });
  blocks[0].probes[0].missing = "no such program";
  EXPECT_TRUE(measure(blocks, 2));
  EXPECT_EQ(blocks[0].probes[0].missing, "no such program");
}

TEST(RoundsTest, AFailureTakesOnlyItsOwnFigures) {
  int calls = 0;
  auto blocks = one_probe([&]() -> std::vector<double> {
    if (++calls == 2) throw std::runtime_error("it ended with 1");
    return {1.0};
  });
  blocks[0].probes.push_back({{{"other", "ms"}}, [] { return std::vector{3.0}; }});
  EXPECT_FALSE(measure(blocks, 4));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(blocks[0].probes[0].missing, "it ended with 1");
  EXPECT_TRUE(present(blocks[0].probes[0].rows[0].values).empty());
  EXPECT_EQ(present(blocks[0].probes[1].rows[0].values).size(), 4U);
}

}  // namespace
}  // namespace ddprun::bench
