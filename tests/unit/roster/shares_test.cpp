#include "rendezvous/roster/shares.h"

#include <gtest/gtest.h>

namespace ddprun::roster {
namespace {

TEST(Shares, RunsAndBytesAreCountedForEachNetworkAndInAll) {
  Shares shares;
  shares.begin("10.0.0.7");
  shares.begin("10.0.0.7");
  shares.begin("10.0.0.8");
  shares.change("10.0.0.7", 0, 100);
  shares.change("10.0.0.7", 0, 50);
  shares.change("10.0.0.7", 100, 70);
  shares.change("10.0.0.8", 0, 5);
  EXPECT_EQ(shares.of("10.0.0.7").runs, 2u);
  EXPECT_EQ(shares.of("10.0.0.7").bytes, 120u);
  EXPECT_EQ(shares.of("10.0.0.8").bytes, 5u);
  EXPECT_EQ(shares.bytes(), 125u);
  EXPECT_EQ(shares.of("10.0.0.9").runs, 0u);
}

TEST(Shares, WhatHasEndedIsGivenBack) {
  Shares shares;
  shares.begin("10.0.0.7");
  shares.begin("10.0.0.7");
  shares.change("10.0.0.7", 0, 100);
  shares.change("10.0.0.7", 0, 50);
  shares.end("10.0.0.7", 100);
  EXPECT_EQ(shares.of("10.0.0.7").runs, 1u);
  EXPECT_EQ(shares.of("10.0.0.7").bytes, 50u);
  EXPECT_EQ(shares.bytes(), 50u);
  shares.end("10.0.0.7", 50);
  EXPECT_EQ(shares.of("10.0.0.7").runs, 0u);
  EXPECT_EQ(shares.bytes(), 0u);
}

TEST(Shares, ClearedTheyAreAsInTheBeginning) {
  Shares shares;
  shares.begin("10.0.0.7");
  shares.change("10.0.0.7", 0, 100);
  shares.clear();
  EXPECT_EQ(shares.of("10.0.0.7").runs, 0u);
  EXPECT_EQ(shares.bytes(), 0u);
}

}  // namespace
}  // namespace ddprun::roster
