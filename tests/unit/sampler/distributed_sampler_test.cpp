#include "ddp/distributed_sampler.h"

#include <gmock/gmock.h>
#include <torch/data/dataloader.h>
#include <torch/data/datasets/base.h>
#include <torch/serialize.h>

#include <algorithm>
#include <functional>
#include <sstream>
#include <string>

#include "ddp/error.h"

namespace ddp {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Indices = std::vector<std::size_t>;

DistributedSamplerOptions part(int num_replicas, int rank) {
  return {.num_replicas = num_replicas, .rank = rank};
}

Indices next_epoch(DistributedSampler& sampler) {
  sampler.reset();
  return sampler.next(1'000'000).value_or(Indices{});
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// The lines of this table were printed by Python's DistributedSampler.
TEST(DistributedSampler, SequentialIndicesOfPython) {
  auto options = part(3, 1);
  options.shuffle = false;
  DistributedSampler sampler(10, options);
  EXPECT_THAT(next_epoch(sampler), ElementsAre(1, 4, 7, 0));
  EXPECT_EQ(sampler.num_samples(), 4u);
}

TEST(DistributedSampler, ShuffledIndicesOfPython) {
  const Indices expected[] = {{5, 2, 9, 4}, {6, 0, 3, 5}, {1, 8, 7, 6}};
  for (int rank = 0; rank < 3; ++rank) {
    DistributedSampler sampler(10, part(3, rank));
    sampler.set_epoch(1);
    EXPECT_EQ(next_epoch(sampler), expected[rank]) << "rank " << rank;
  }
}

TEST(DistributedSampler, SeedAndEpochAreAdded) {
  auto options = part(2, 0);
  DistributedSampler epoch_seven(100, options);
  epoch_seven.set_epoch(7);
  options.seed = 7;
  DistributedSampler seed_seven(100, options);
  const auto indices = next_epoch(epoch_seven);
  EXPECT_EQ(indices, next_epoch(seed_seven));
  seed_seven.set_epoch(1);
  EXPECT_NE(indices, next_epoch(seed_seven));
}

TEST(DistributedSampler, SeedAndEpochBeyond64BitsStartAgainAtZero) {
  auto options = part(2, 0);
  options.seed = ~std::uint64_t{0};  // Python's -1
  DistributedSampler wrapped(100, options);
  wrapped.set_epoch(4);
  DistributedSampler plain(100, part(2, 0));
  plain.set_epoch(3);
  EXPECT_EQ(next_epoch(wrapped), next_epoch(plain));
}

TEST(DistributedSampler, NextGivesBatchesUntilTheEpochEnds) {
  auto options = part(2, 0);
  options.shuffle = false;
  DistributedSampler sampler(10, options);
  EXPECT_THAT(sampler.next(3).value(), ElementsAre(0, 2, 4));
  EXPECT_THAT(sampler.next(3).value(), ElementsAre(6, 8));
  EXPECT_EQ(sampler.next(3), std::nullopt);
  EXPECT_EQ(sampler.next(3), std::nullopt);
  sampler.reset();
  EXPECT_THAT(sampler.next(3).value(), ElementsAre(0, 2, 4));
}

TEST(DistributedSampler, NewSize) {
  auto options = part(2, 1);
  options.shuffle = false;
  DistributedSampler sampler(10, options);
  sampler.reset(3);
  EXPECT_THAT(sampler.next(9).value(), ElementsAre(1, 0));
  EXPECT_EQ(sampler.num_samples(), 2u);
  EXPECT_THAT(error_of([&] { sampler.reset(0); }), HasSubstr("the data set is empty"));
}

TEST(DistributedSampler, FewerSamplesThanRanksAndDropLastIsAnEmptyEpoch) {
  auto options = part(3, 0);
  options.drop_last = true;
  DistributedSampler sampler(2, options);
  EXPECT_EQ(sampler.num_samples(), 0u);
  EXPECT_EQ(sampler.next(1), std::nullopt);
}

TEST(DistributedSampler, CopiesShareTheEpochButNotThePlace) {
  DistributedSampler kept(100, part(2, 0));
  DistributedSampler copy = kept;
  kept.set_epoch(5);
  EXPECT_EQ(copy.epoch(), 5);
  EXPECT_EQ(next_epoch(copy), next_epoch(kept));
  kept.reset();
  copy.reset();
  EXPECT_EQ(kept.next(10), copy.next(10));
}

TEST(DistributedSampler, BadArguments) {
  EXPECT_THAT(error_of([] { DistributedSampler(0, part(1, 0)); }),
              HasSubstr("the data set is empty"));
  EXPECT_THAT(error_of([] { DistributedSampler(9, part(0, 0)); }),
              HasSubstr("num_replicas is 0, expected 1 or more"));
  EXPECT_THAT(error_of([] { DistributedSampler(9, part(-1, 0)); }),
              HasSubstr("num_replicas is -1"));
  EXPECT_THAT(error_of([] { DistributedSampler(9, part(2, 2)); }),
              HasSubstr("rank is 2, expected 0 to 1"));
  EXPECT_THAT(error_of([] { DistributedSampler(9, part(2, -1)); }),
              HasSubstr("rank is -1, expected 0 to 1"));
  EXPECT_THAT(error_of([] { DistributedSampler(9, part(1, 0)).next(0); }),
              HasSubstr("batch size is 0"));
}

TEST(DistributedSampler, WithoutProcessGroupSaysWhatIsMissing) {
  EXPECT_THAT(error_of([] { DistributedSampler(9); }),
              AllOf(HasSubstr("num_replicas was not given"), HasSubstr("init_process_group")));
  EXPECT_THAT(error_of([] { DistributedSampler(9, {.num_replicas = 2}); }),
              HasSubstr("rank was not given"));
}

TEST(DistributedSampler, GoesOnWhereItWasSaved) {
  DistributedSampler sampler(100, part(2, 0));
  sampler.set_epoch(3);
  const auto all = next_epoch(sampler);
  sampler.reset();
  sampler.next(20);
  std::stringstream file;
  torch::serialize::OutputArchive out;
  sampler.save(out);
  out.save_to(file);

  DistributedSampler loaded(100, part(2, 0));
  torch::serialize::InputArchive in;
  in.load_from(file);
  loaded.load(in);
  EXPECT_EQ(loaded.epoch(), 3);
  EXPECT_EQ(loaded.next(1000).value(), Indices(all.begin() + 20, all.end()));
  DistributedSampler shorter(30, part(2, 0));
  EXPECT_THAT(error_of([&] { shorter.load(in); }),
              HasSubstr("the saved place is 20 of an epoch of 15 samples"));
}

struct Numbers : torch::data::datasets::BatchDataset<Numbers, Indices> {
  Indices get_batch(c10::ArrayRef<std::size_t> indices) override { return indices.vec(); }
  std::optional<std::size_t> size() const override { return 103; }
};

// With worker threads and in order, the loader hands out the indices of the epoch set on the
// sampler that was kept.
TEST(DistributedSampler, ReachesTheDataLoaderThatHoldsACopy) {
  for (const std::size_t threads : {0u, 2u}) {
    DistributedSampler sampler(103, part(2, 1));
    auto loader = torch::data::make_data_loader(
        Numbers(), sampler, torch::data::DataLoaderOptions().batch_size(8).workers(threads));
    Indices before;
    for (int epoch = 0; epoch < 3; ++epoch) {
      sampler.set_epoch(epoch);
      Indices seen;
      for (const auto& batch : *loader) seen.insert(seen.end(), batch.begin(), batch.end());
      EXPECT_EQ(seen, next_epoch(sampler)) << "epoch " << epoch << ", " << threads << " threads";
      EXPECT_NE(seen, before);
      before = seen;
    }
  }
}

}  // namespace
}  // namespace ddp
