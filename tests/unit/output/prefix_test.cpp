#include "launcher/output/prefix.h"

#include <gtest/gtest.h>

namespace ddprun::output {
namespace {

TEST(Prefix, IsUsedForSeveralWorkersOnATerminalOnly) {
  EXPECT_TRUE(uses_prefix(2, true));
  EXPECT_FALSE(uses_prefix(1, true));
  EXPECT_FALSE(uses_prefix(2, false));
}

TEST(Prefix, ColorObeysNoColorAndDumbTerminals) {
  EXPECT_TRUE(uses_color(true, nullptr, "xterm"));
  EXPECT_TRUE(uses_color(true, "", "xterm"));
  EXPECT_FALSE(uses_color(true, "1", "xterm"));
  EXPECT_FALSE(uses_color(true, nullptr, "dumb"));
  EXPECT_FALSE(uses_color(true, nullptr, nullptr));
  EXPECT_FALSE(uses_color(false, nullptr, "xterm"));
}

TEST(Prefix, IsTheGlobalRankInBrackets) {
  EXPECT_EQ(make_prefix(12, false), "[12] ");
}

TEST(Prefix, NeighbouringRanksDifferInColorAndResetIt) {
  EXPECT_EQ(make_prefix(0, true), "\x1b[36m[0]\x1b[0m ");
  EXPECT_NE(make_prefix(0, true).substr(0, 5), make_prefix(1, true).substr(0, 5));
}

TEST(Prefix, GoesInFrontOfEveryLineEmptyOnesToo) {
  std::string out = "before\n";
  append_prefixed(out, "[1] ", "a\n\nb\n");
  EXPECT_EQ(out, "before\n[1] a\n[1] \n[1] b\n");
}

}  // namespace
}  // namespace ddprun::output
