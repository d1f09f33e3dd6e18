// Which places of an epoch's order belong to one rank: the arithmetic of DistributedSampler,
// without torch.
#pragma once

#include <cstddef>
#include <vector>

namespace ddp::detail {

// A data set of `size` > 0 samples, dealt to `num_replicas` > 0 ranks.
struct SamplerShare {
  std::size_t size = 0;
  std::size_t num_replicas = 1;
  std::size_t rank = 0;  // < num_replicas
  bool drop_last = false;

  // The number of samples that every rank gets: rounded up, or down with drop_last (then 0 when
  // there are fewer samples than ranks).
  std::size_t num_samples() const;

  // This rank's places in the epoch's order, each < size, num_samples() of them: rank, rank +
  // num_replicas, … Places past the end start again at the front: that is the padding.
  std::vector<std::size_t> places() const;
};

}  // namespace ddp::detail
