// Gloo behind c10d's Backend interface, with errors that say the rank.
#pragma once

#include <chrono>
#include <memory>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "worker_sdk/src/peers.h"

namespace ddp::detail {

// Whose errors these are: this rank, and who can name others; null in a group of NCCL alone.
struct Speaker {
  int global_rank = -1;
  std::shared_ptr<const Peers> peers;
};

struct GlooSettings {
  std::chrono::milliseconds timeout{0};
  int event_niceness = 0;      // InitOptions::gloo_event_niceness
  bool shared_memory = false;  // InitOptions::shared_memory
};

// Who is in the group.
struct Members {
  std::vector<int> ranks;  // global ones, by their rank in the group
  int rank = 0;            // this one's in the group
};

// Meets the other ranks through `store` and connects to each of them; throws what c10d throws if
// they do not come. Failed operations of the backend throw ddp::Error of the `speaker`, also
// through their futures, which is how an error leaves loss.backward(). Where shared memory is
// wanted but not possible, rank 0 of the group says on stderr why.
c10::intrusive_ptr<c10d::Backend> make_gloo_backend(const c10::intrusive_ptr<c10d::Store>& store,
                                                    const Members& members, Speaker speaker,
                                                    const GlooSettings& settings);

// `backend`, but each of its collectives is compared between the ranks first, through `gloo`: which
// one, in which place, with which shapes and types. A difference is a ddp::Error on all ranks.
c10::intrusive_ptr<c10d::Backend> make_checking_backend(c10::intrusive_ptr<c10d::Backend> backend,
                                                        c10::intrusive_ptr<c10d::Backend> gloo,
                                                        Speaker speaker);

}  // namespace ddp::detail
