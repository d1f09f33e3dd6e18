// How many connections fit.
#include "rendezvous/server/connection_limits.h"

#include <gtest/gtest.h>

namespace ddprun::server {
namespace {

TEST(ConnectionLimits, WhatIsNeededForOtherThingsIsLeft) {
  EXPECT_EQ(connections_for(1'000, 32, false), 968u);
  EXPECT_EQ(connections_for(1'000, 4'096, false), 500u) << "half of few";
  EXPECT_EQ(connections_for(1'000, 100, true), 300u) << "three descriptors each";
  EXPECT_EQ(connections_for(0, 32, true), 1u) << "0 would be no limit";
}

TEST(ConnectionLimits, NoAddressTakesAllAndNoSilenceTakesAnAddress) {
  const ConnectionLimits limits = shared_out(100);
  EXPECT_EQ(limits.all, 100u);
  EXPECT_EQ(limits.per_address, 50u);
  EXPECT_EQ(limits.unfinished_per_address, 25u);
  EXPECT_EQ(shared_out(1).per_address, 1u);
  EXPECT_EQ(shared_out(1).unfinished_per_address, 1u);
}

}  // namespace
}  // namespace ddprun::server
