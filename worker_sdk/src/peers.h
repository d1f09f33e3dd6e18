// Finds out which rank it was, when one is lost or late.
//
// What a rank of this SDK leaves in the store for it, below its group's prefix and only at joining
// or after a failure: the addresses of its sockets, that it waited in vain, and, once for the whole
// job, which rank ended first.
#pragma once

#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "worker_sdk/src/translate.h"

namespace ddp::detail {

class Peers {
 public:
  // `store` is below the group's prefix, `job_store` below the default group's. `ranks` are the
  // members' global ones.
  Peers(c10::intrusive_ptr<c10d::Store> store, c10::intrusive_ptr<c10d::Store> job_store,
        std::vector<int> ranks, int global_rank);

  // This rank has connected to all others.
  void publish_own_sockets() const;

  // This rank ends, by itself, with this text. Only the first one of a job is remembered.
  void note_own_end(const std::string& text) const;

  // What a failed operation of Gloo says, for people, with the ranks that can be named: `reason` is
  // what Gloo said. `all_wait` is what waits_for_all says of the operation. Where
  // another rank is gone, this waits a little first, once, until the launcher has heard of that
  // one; where one is late, until the others have noticed it as well. Never throws.
  Reason explain(const std::string& reason, bool all_wait = true) const;

 private:
  // Whether the member can leave anything in the store: it uses this SDK.
  bool is_sdk_rank(int rank) const;
  std::vector<int> lost_ranks(const std::string& reason) const;
  std::vector<int> late_ranks() const;
  // Which rank ended first, where that is another than `lost`.
  std::string first_end(const std::vector<int>& lost) const;

  c10::intrusive_ptr<c10d::Store> store_, job_store_;
  std::vector<int> ranks_;
  int global_rank_;
};

// explain() of a group's peers; without them, in a group of NCCL alone, the reason as it is.
Explain explainer(std::shared_ptr<const Peers> peers, bool all_wait = true);

}  // namespace ddp::detail
