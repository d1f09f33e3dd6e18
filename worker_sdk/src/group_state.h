// What a ddp::ProcessGroup handle points to.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "ddp/process_group.h"
#include "worker_sdk/src/peers.h"

namespace ddp::detail {

struct GroupState {
  std::string name;        // "0" for the default group, then a counter, as in Python
  std::string backend;     // "gloo", "nccl" or "cpu:gloo,cuda:nccl"
  bool gloo = false;       // serves the CPU
  bool nccl = false;       // serves GPUs; with both backends only where there are any
  std::vector<int> ranks;  // global ranks of the members
  int rank = -1;           // in this group; -1 where this process is no member
  int global_rank = -1;
  std::chrono::milliseconds timeout{0};
  int gloo_event_niceness = 0;
  bool shared_memory = false;
  // Every member was built with this SDK, so there may be more between them than Python's ranks
  // expect.
  bool only_sdk_ranks = false;
  c10::intrusive_ptr<c10d::Store> store;  // below the group's prefix; null where not a member
  c10::intrusive_ptr<c10d::ProcessGroup> group;    // null where this process is no member
  c10::intrusive_ptr<c10d::Backend> nccl_backend;  // the one for GPUs, without a wrapper around it
  std::shared_ptr<const Peers> peers;              // null without Gloo

  mutable std::int64_t monitored_barriers = 0;  // so many have been begun

  bool is_member() const { return rank >= 0; }
  int size() const { return static_cast<int>(ranks.size()); }
};

// The group that a handle means. Throws ddp::Error that begins with `what` before
// init_process_group.
std::shared_ptr<GroupState> resolve(const ProcessGroup& group, const char* what);

}  // namespace ddp::detail
