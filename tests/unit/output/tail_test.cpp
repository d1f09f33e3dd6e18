#include "launcher/output/tail.h"

#include <gmock/gmock.h>

namespace ddprun::output {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Tail, IsEmptyBeforeAnythingCame) {
  EXPECT_TRUE(Tail().empty());
  EXPECT_THAT(Tail().lines(), IsEmpty());
}

TEST(Tail, CutsLinesWhereverThePiecesWereCut) {
  Tail tail;
  for (const char* piece : {"o", "ne\nt", "wo\n\nla", "st"}) tail.add(piece);
  EXPECT_THAT(tail.lines(), ElementsAre("one", "two", "", "last"));
}

TEST(Tail, KeepsTheLastHundredLines) {
  Tail tail;
  for (int i = 0; i < 250; ++i) tail.add(std::to_string(i) + "\n");
  const auto lines = tail.lines();
  ASSERT_EQ(lines.size(), 100U);
  EXPECT_EQ(lines.front(), "150");
  EXPECT_EQ(lines.back(), "249");
}

TEST(Tail, LeavesOutALineThatLostItsBeginning) {
  Tail tail(16);
  for (const char* line : {"alpha\n", "beta\n", "gamma\n", "delta\n"}) tail.add(line);
  EXPECT_THAT(tail.lines(), ElementsAre("gamma", "delta"));
}

TEST(Tail, KeepsTheEndOfTheOnlyLine) {
  Tail tail(8);
  tail.add("abcdefghijkl");
  tail.add("mn");
  EXPECT_THAT(tail.lines(), ElementsAre("ghijklmn"));
}

TEST(Tail, APieceOfExactlyTheLimitIsKeptWhole) {
  Tail tail(8);
  tail.add("abc\nefg\n");
  EXPECT_THAT(tail.lines(), ElementsAre("abc", "efg"));
}

TEST(Tail, ARingThatWrapsManyTimesKeepsTheOrder) {
  Tail tail(100);
  std::string all;
  for (int i = 0; i < 1000; ++i) {
    const std::string line = std::to_string(i) + "\n";
    tail.add(line);
    all += line;
  }
  std::string kept;
  for (const std::string& line : tail.lines()) kept += line + "\n";
  EXPECT_GE(kept.size(), 96U);
  EXPECT_LE(kept.size(), 100U);
  EXPECT_TRUE(all.ends_with(kept));
}

TEST(Tail, BytesAreUnchanged) {
  Tail tail;
  const std::string bytes("\xff\0\r\x1b[2J", 7);
  tail.add(bytes + "\n");
  EXPECT_THAT(tail.lines(), ElementsAre(bytes));
}

TEST(TailLimit, ManyStreamsShareSixteenMebibytes) {
  EXPECT_EQ(tail_limit(2), 64U << 10);
  EXPECT_EQ(tail_limit(256), 64U << 10);
  EXPECT_EQ(tail_limit(1024), 16U << 10);
  EXPECT_EQ(tail_limit(0), 64U << 10);
}

}  // namespace
}  // namespace ddprun::output
