// The ranks of a group agree, through their store, on memory that all of them share.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "worker_sdk/src/shared_memory/sum_queue.h"

namespace ddp::detail {

// What the ranks have agreed on.
struct SharedMemory {
  std::optional<SharingRanks> ranks;  // none: it is not used, and `reason` says why
  std::optional<SharedMapping> memory;
  std::string reason;
};

// Whether memory can be agreed on at all: not where Gloo connects the ranks later.
bool can_share_memory();

// This rank would share memory; before it connects to the others. `store` is the group's own.
void offer_shared_memory(c10d::Store& store, int rank);

// Makes it or opens it if all ranks can; after this rank has connected to all others, because who
// has made no offer by then makes none. `ranks` are the global ranks, this one's index is `rank`.
// All ranks get the same answer. Throws ddp::Error with the ranks that have not answered within
// `timeout`, and what the store throws.
SharedMemory agree_on_shared_memory(c10d::Store& store, int rank, const std::vector<int>& ranks,
                                    std::chrono::milliseconds timeout);

}  // namespace ddp::detail
