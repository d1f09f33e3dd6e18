#include "launcher/output/progress_bar.h"

#include <gtest/gtest.h>

namespace ddprun::output {
namespace {

TEST(VisiblePart, IsTheTextBehindTheLastReturn) {
  EXPECT_EQ(visible_part("no bar"), "no bar");
  EXPECT_EQ(visible_part("\r 10%\r 20%"), " 20%");
  EXPECT_EQ(visible_part("10%\r20%\r"), "20%");
  EXPECT_EQ(visible_part("dos line\r"), "dos line");
  EXPECT_EQ(visible_part("\r\r"), "");
}

TEST(VisiblePart, KeepsColoursAndLeavesOutWhatMovesTheCursor) {
  EXPECT_EQ(visible_part("\r\x1b[32m5%\x1b[0m\x1b[A\x1b[K|"), "\x1b[32m5%\x1b[0m|");
  EXPECT_EQ(visible_part("\rx\x1b[1"), "x");
  EXPECT_EQ(visible_part("\rx\x1b"), "x");
}

TEST(VisibleLines, TouchesOnlyLinesThatWereOverwritten) {
  EXPECT_EQ(visible_lines("plain \x1b[A\n\r1%\r100%\nlast\n"), "plain \x1b[A\n100%\nlast\n");
  EXPECT_EQ(visible_lines("\n\n"), "\n\n");
}

TEST(Clip, CountsCharactersAndNotEscapes) {
  EXPECT_EQ(clip("abcdef", 4), "abcd");
  EXPECT_EQ(clip("abc", 4), "abc");
  EXPECT_EQ(clip("\x1b[36m[0]\x1b[0m bar", 5), "\x1b[36m[0]\x1b[0m b");
  EXPECT_EQ(clip("\u2588\u2588\u2588", 2), "\u2588\u2588");
  EXPECT_EQ(clip("ab\x1b[0m", 1), "a\x1b[0m");
}

TEST(Bars, TheLowestStreamIsShown) {
  Bars bars;
  EXPECT_EQ(bars.shown(), "");
  bars.set(3, "three");
  bars.set(1, "one");
  bars.set(2, "two");
  EXPECT_EQ(bars.shown(), "one");
  bars.set(1, "");
  EXPECT_EQ(bars.shown(), "two");
}

}  // namespace
}  // namespace ddprun::output
