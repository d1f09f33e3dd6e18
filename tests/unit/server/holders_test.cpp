// Who is closed first where all hold too much.
#include "rendezvous/server/holders.h"

#include <gtest/gtest.h>

namespace ddprun::server {
namespace {

TEST(Holders, OfTheAddressThatHoldsMostTheLargestGoes) {
  Holders holders;
  holders.add(1, "good", 50);
  holders.add(2, "crowd", 20);
  holders.add(3, "crowd", 30);
  holders.add(4, "crowd", 10);
  const auto largest = holders.largest();
  ASSERT_TRUE(largest);
  EXPECT_EQ(largest->id, 3u);
  EXPECT_EQ(largest->address, "crowd");
  EXPECT_EQ(largest->held, 30u);
  EXPECT_EQ(largest->held_by_address, 60u);
}

TEST(Holders, OfSeveralAlikeTheOldestGoes) {
  Holders holders;
  for (const std::uint64_t id : {9, 4, 7}) holders.add(id, "a", 1);
  EXPECT_EQ(holders.largest()->id, 4u);
}

TEST(Holders, WhereNobodyHoldsAnythingNobodyGoes) {
  Holders holders;
  EXPECT_FALSE(holders.largest());
  holders.add(1, "a", 0);
  EXPECT_FALSE(holders.largest());
}

}  // namespace
}  // namespace ddprun::server
