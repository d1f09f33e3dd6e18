// Who has too many connections.
#include "rendezvous/server/peer_counts.h"

#include <gtest/gtest.h>

#include <vector>

namespace ddprun::server {
namespace {

using Places = std::vector<std::shared_ptr<PeerCounts::Place>>;

std::shared_ptr<PeerCounts::Place> enter(PeerCounts& counts, const char* address,
                                         PeerCounts::ConnectionId id) {
  auto place = counts.enter(address);
  place->begin(id);
  return place;
}

TEST(PeerCounts, EachAddressHasALimitOfItsOwn) {
  PeerCounts counts({.connections = 2});
  Places places{enter(counts, "a", 1), enter(counts, "a", 2), enter(counts, "b", 3)};
  EXPECT_TRUE(counts.is_full("a"));
  EXPECT_FALSE(counts.is_full("b"));
  EXPECT_FALSE(counts.is_full("c"));
  EXPECT_EQ(counts.addresses(), 2u);
  EXPECT_EQ(counts.most(), 2u);
  places.erase(places.begin());
  EXPECT_FALSE(counts.is_full("a"));
  places.clear();
  EXPECT_EQ(counts.addresses(), 0u) << "who has gone takes no memory";
  EXPECT_EQ(counts.most(), 0u);
}

TEST(PeerCounts, OfTheUnfinishedOnesTheOldestGoes) {
  PeerCounts counts({.unfinished = 2});
  Places places{enter(counts, "a", 1), enter(counts, "a", 2)};
  EXPECT_EQ(counts.too_slow("a"), 1u);
  EXPECT_EQ(counts.too_slow("b"), std::nullopt);
  places[0]->finish();
  EXPECT_EQ(counts.too_slow("a"), std::nullopt);
  places.push_back(enter(counts, "a", 3));
  EXPECT_EQ(counts.too_slow("a"), 2u);
  places[1]->begin(9);  // as the inside of its TLS
  EXPECT_EQ(counts.too_slow("a"), 3u);
  places[1].reset();
  EXPECT_EQ(counts.too_slow("a"), std::nullopt);
}

TEST(PeerCounts, WithoutLimitsNothingIsTooMuch) {
  PeerCounts counts({});
  Places places;
  for (std::uint64_t i = 1; i <= 1000; ++i) places.push_back(enter(counts, "a", i));
  EXPECT_FALSE(counts.is_full("a"));
  EXPECT_EQ(counts.too_slow("a"), std::nullopt);
  EXPECT_EQ(counts.most(), 1000u);
}

// A session holds it that ends after the port was closed.
TEST(PeerCounts, APlaceMayOutliveTheCounts) {
  std::shared_ptr<PeerCounts::Place> place;
  {
    PeerCounts counts({.connections = 1});
    place = enter(counts, "a", 1);
  }
  place->finish();
  place.reset();
}

}  // namespace
}  // namespace ddprun::server
