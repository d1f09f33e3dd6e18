#include "worker_sdk/src/sampler_share.h"

namespace ddp::detail {

std::size_t SamplerShare::num_samples() const {
  const std::size_t whole = size / num_replicas;
  const bool round_up = !drop_last && size % num_replicas != 0;
  return round_up ? whole + 1 : whole;
}

std::vector<std::size_t> SamplerShare::places() const {
  std::vector<std::size_t> places(num_samples());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = (rank + i * num_replicas) % size;
  return places;
}

}  // namespace ddp::detail
