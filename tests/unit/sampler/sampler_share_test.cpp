#include "worker_sdk/src/sampler_share.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace ddp::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

SamplerShare share(std::size_t size, std::size_t num_replicas, std::size_t rank,
                   bool drop_last = false) {
  return {size, num_replicas, rank, drop_last};
}

TEST(SamplerShare, DealsInStrides) {
  EXPECT_THAT(share(6, 2, 0).places(), ElementsAre(0, 2, 4));
  EXPECT_THAT(share(6, 2, 1).places(), ElementsAre(1, 3, 5));
}

TEST(SamplerShare, PadsFromTheFront) {
  EXPECT_THAT(share(10, 3, 0).places(), ElementsAre(0, 3, 6, 9));
  EXPECT_THAT(share(10, 3, 1).places(), ElementsAre(1, 4, 7, 0));
  EXPECT_THAT(share(10, 3, 2).places(), ElementsAre(2, 5, 8, 1));
}

// LibTorch's own samplers hand out an index 2 here.
TEST(SamplerShare, PadsSeveralRoundsWhenThereAreFewerSamplesThanRanks) {
  for (std::size_t rank = 0; rank < 4; ++rank)
    EXPECT_THAT(share(1, 4, rank).places(), ElementsAre(0));
  EXPECT_THAT(share(2, 7, 6).places(), ElementsAre(0));
  EXPECT_THAT(share(2, 7, 5).places(), ElementsAre(1));
}

TEST(SamplerShare, DropsTheTail) {
  EXPECT_THAT(share(10, 3, 0, true).places(), ElementsAre(0, 3, 6));
  EXPECT_THAT(share(10, 3, 2, true).places(), ElementsAre(2, 5, 8));
  EXPECT_EQ(share(9, 3, 0, true).num_samples(), 3u);
  EXPECT_THAT(share(2, 3, 0, true).places(), IsEmpty());
}

TEST(SamplerShare, EveryPlaceIsDealtOnceWithoutPadding) {
  std::vector<std::size_t> all;
  for (std::size_t rank = 0; rank < 5; ++rank) {
    const auto places = share(35, 5, rank).places();
    all.insert(all.end(), places.begin(), places.end());
  }
  std::ranges::sort(all);
  for (std::size_t i = 0; i < 35; ++i) EXPECT_EQ(all.at(i), i);
  EXPECT_EQ(all.size(), 35u);
}

}  // namespace
}  // namespace ddp::detail
