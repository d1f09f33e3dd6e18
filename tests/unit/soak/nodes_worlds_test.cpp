#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/multi_node/soak/worlds.h"

namespace ddprun::nodes_soak {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Two workers on each of four nodes.
const Scenario kTwoEach{.workers = 2, .restarts = 1};

std::string world(const std::string& token, int restarts) {
  std::string lines;
  for (int rank = 0; rank < 8; ++rank)
    lines += token + " 8 " + std::to_string(rank) + " " + std::to_string(rank % 2) + " " +
             std::to_string(rank / 2) + " " + std::to_string(restarts) + " 1234\n";
  return lines;
}

std::string wrong(const std::string& lines, bool ended_well = false) {
  return wrong_with_worlds(kTwoEach, parse(lines), ended_well);
}

TEST(NodesWorldsTest, LinesAreRead) {
  const auto all = parse("a 8 3 1 2 1 99\nhalf a li");
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].token, "a");
  EXPECT_EQ(all[0].world, 8);
  EXPECT_EQ(all[0].rank, 3);
  EXPECT_EQ(all[0].local_rank, 1);
  EXPECT_EQ(all[0].node, 2);
  EXPECT_EQ(all[0].restarts, 1);
  EXPECT_EQ(all[0].pid, 99);
}

TEST(NodesWorldsTest, AWorldIsCompleteWhenAllHaveMet) {
  EXPECT_FALSE(is_complete({}));
  EXPECT_TRUE(is_complete(parse(world("a", 0))));
  EXPECT_FALSE(is_complete(parse(world("a", 0) + "b 8 3 1 1 1 9\n")));
  // Whoever was slow may write behind the first of the next world.
  EXPECT_THAT(last_world(parse("a 8 0 0 0 0 9\nb 8 1 1 0 1 9\na 8 1 1 0 0 9\n")), SizeIs(1));
}

TEST(NodesWorldsTest, GoodWorldsAreGood) {
  EXPECT_THAT(wrong(world("a", 0), true), IsEmpty());
  EXPECT_THAT(wrong(world("a", 0) + world("b", 1), true), IsEmpty());
  EXPECT_THAT(wrong(""), IsEmpty());
}

TEST(NodesWorldsTest, EachRankIsThereOnce) {
  EXPECT_THAT(wrong("a 8 1 1 0 0 9\na 8 1 1 0 0 9\n"), HasSubstr("rank 1 twice"));
  EXPECT_THAT(wrong("a 8 8 0 0 0 9\n"), HasSubstr("has rank 8"));
}

TEST(NodesWorldsTest, AllHaveTheSameSizeAndTheSameRestarts) {
  EXPECT_THAT(wrong("a 8 0 0 0 0 9\na 6 1 1 0 0 9\n"), HasSubstr("two sizes"));
  EXPECT_THAT(wrong("a 8 0 0 0 0 9\na 8 1 1 0 1 9\n"), HasSubstr("two numbers of restarts"));
  EXPECT_THAT(wrong("a 6 0 0 0 0 9\n"), HasSubstr("has 6 ranks"));
  EXPECT_THAT(wrong(world("a", 2)), HasSubstr("there are 1"));
}

TEST(NodesWorldsTest, RanksOfANodeAreNeighbours) {
  EXPECT_THAT(wrong("a 8 0 0 0 0 9\na 8 3 1 0 0 9\n"), HasSubstr("rank 3 is not beside"));
}

TEST(NodesWorldsTest, AJobThatEndedWellHadAWholeWorld) {
  EXPECT_THAT(wrong("a 8 0 0 0 0 9\n", true), HasSubstr("not all ranks"));
  EXPECT_THAT(wrong("", true), HasSubstr("not all ranks"));
}

}  // namespace
}  // namespace ddprun::nodes_soak
