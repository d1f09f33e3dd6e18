// DistributedSampler: gives each rank its own part of a data set, index for index the part that
// Python's torch.utils.data.DistributedSampler gives, so that a C++ rank and a Python rank can
// share one epoch.
//
// LibTorch's own torch::data::samplers::DistributedRandomSampler deals other indices (blocks, not
// strides).
#pragma once

#include <torch/data/samplers/base.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ddp/export.h"

namespace ddp {

// The arguments of Python's DistributedSampler, with its defaults.
struct DistributedSamplerOptions {
  // The number of parts. Not given: the world size of the default process group.
  std::optional<int> num_replicas = std::nullopt;
  // The part to hand out, from 0. Not given: the rank in the default process group.
  std::optional<int> rank = std::nullopt;
  // Shuffle anew in each epoch, the same way on all ranks; otherwise in the order of the data set.
  bool shuffle = true;
  // Must be the same on all ranks. Python's negative seed s is std::uint64_t(s).
  std::uint64_t seed = 0;
  // When the samples cannot be dealt evenly: leave out the last ones, instead of repeating the
  // first ones until every rank has the same number.
  bool drop_last = false;
};

// A sampler for torch::data::make_data_loader, or to be asked by hand with next().
//
// The loader takes the sampler by value; copies share the epoch, so set_epoch() on the one that the
// program kept reaches the one inside the loader. Each copy has its own place in its epoch.
// set_epoch() and epoch() may be called from any thread; the rest from one thread at a time.
class DDP_API DistributedSampler : public torch::data::samplers::Sampler<> {
 public:
  // dataset_size is the number of samples over all ranks: dataset.size().value().
  // Throws ddp::Error for an empty data set, num_replicas < 1, a rank outside 0 … num_replicas - 1,
  // and when one of the two is not given while there is no process group.
  explicit DistributedSampler(std::size_t dataset_size, DistributedSamplerOptions options = {});

  // The epoch from which the next pass over the data is shuffled (together with the seed). Takes
  // effect at the next reset(), that is, at the loader's next begin(). Call it before each epoch,
  // with the same number on all ranks; otherwise every epoch has the same order. seed + epoch is
  // taken modulo 2^64 (Python refuses a sum beyond 64 bits).
  void set_epoch(std::int64_t epoch);
  std::int64_t epoch() const;

  // The number of samples that this rank gets in an epoch: the same on all ranks. Python:
  // len(sampler).
  std::size_t num_samples() const;

  // Starts an epoch. new_size: the data set has now this many samples; throws ddp::Error if it is
  // 0.
  void reset(std::optional<std::size_t> new_size = std::nullopt) override;

  // The next up to batch_size indices into the data set, fewer at the end of the epoch, nothing
  // after it. The first call starts an epoch if reset() has not done so. Throws ddp::Error for a
  // batch_size of 0.
  std::optional<std::vector<std::size_t>> next(std::size_t batch_size) override;

  // Epoch and place, to go on in the middle of an epoch: load() into a sampler that was made with
  // the same arguments and go on with next(). (A DataLoader's begin() starts the epoch from its
  // front.) load() throws ddp::Error for a place behind the end, c10::Error when the archive holds
  // no sampler.
  void save(torch::serialize::OutputArchive& archive) const override;
  void load(torch::serialize::InputArchive& archive) override;

 private:
  void deal_indices();

  std::size_t size_;
  std::size_t num_replicas_;
  std::size_t rank_;
  bool shuffle_;
  std::uint64_t seed_;
  bool drop_last_;
  std::shared_ptr<std::atomic<std::int64_t>> epoch_;
  std::optional<std::vector<std::size_t>>
      indices_;           // of this rank in this epoch; none before the first one
  std::size_t next_ = 0;  // place in indices_
};

}  // namespace ddp
