// Finds out which rank it was, when one is lost or late.
//
// What a rank of this SDK leaves in the store for it, below its group's prefix and only at joining
// or after a failure: the addresses of its sockets, that it waited in vain, and, once for the whole
// job, which rank ended first.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "worker_sdk/src/translate.h"

namespace ddp::detail {

// For whom a rank waits in an operation.
struct WaitsFor {
  bool all = true;          // see waits_for_all
  std::optional<int> rank;  // the one that it sends to or receives from, where there is one
};

// Of a collective, by its name.
WaitsFor waits_in(const std::string& operation);

class Peers : public std::enable_shared_from_this<Peers> {
 public:
  // `store` is below the group's prefix, `job_store` below the default group's. `ranks` are the
  // members' global ones. To be owned by a shared_ptr.
  Peers(c10::intrusive_ptr<c10d::Store> store, c10::intrusive_ptr<c10d::Store> job_store,
        std::vector<int> ranks, int global_rank);

  // This rank has connected to all others.
  void publish_own_sockets() const;

  // This rank ends, by itself, with this text. Only the first one of a job is remembered.
  void note_own_end(const std::string& text) const;

  // What a failed operation of Gloo says, for people, with the ranks that can be named: `reason` is
  // what Gloo said. Where another rank is gone, this waits a little first, once, until the launcher
  // has heard of that one; where one is late, once until the others have noticed it as well. Any
  // thread. Never throws.
  Reason explain(const std::string& reason, const WaitsFor& waits_for = {}) const;

  // The same where it is known who: member `rank` has ended, or has waited in vain, or these have
  // not come in time. Any thread. Never throws.
  Reason explain_ended(int rank) const;
  Reason explain_gave_up(int rank) const;
  Reason explain_late(const std::vector<int>& ranks, std::chrono::milliseconds waited) const;

 private:
  // Ranks that are late; if not `sure`, one of them.
  struct Late {
    std::vector<int> ranks;
    bool sure = true;
    bool all_waited = false;  // nobody is: each waited for something else
  };

  // Those that have not waited in vain, when the others had had time to say so. Ascending.
  struct Silent {
    std::vector<int> sdk_ranks;
    std::vector<int> strangers;  // cannot say it
  };

  // What `ask(*this)` returns, on a thread of its own; nothing where the store is gone, or where
  // its machine says nothing for some seconds: then nobody asks it again.
  template <class Ask>
  auto from_store(Ask ask) const -> decltype(ask(*this));

  Reason explain_lost(const std::string& reason, const WaitsFor& waits_for) const;
  Reason explain_late(const std::string& reason, const WaitsFor& waits_for) const;
  Reason explain_closed(int rank, const WaitsFor& waits_for) const;
  std::vector<int> missing_members(const std::string& reason) const;
  // Whether the member can leave anything in the store: it uses this SDK.
  bool is_sdk_rank(int rank) const;
  std::vector<int> lost_ranks(const std::string& reason) const;
  Late late_ranks(const WaitsFor& waits_for) const;
  Silent ask_all() const;
  // Whether it has waited in vain; what a rank does that has lost it may have to wait a little.
  bool gave_up(int rank) const;
  bool gives_up(int rank) const;
  // Which rank ended first, where that is another than `lost`.
  std::string first_end(const std::vector<int>& lost) const;

  c10::intrusive_ptr<c10d::Store> store_, job_store_;
  std::vector<int> ranks_;
  int global_rank_;
  mutable std::mutex mutex_;
  // Found out at the first time-out; what is left in the store is old after that.
  mutable std::optional<Silent> silent_;
  mutable std::atomic<bool> store_is_silent_ = false;
};

// explain() of a group's peers; without them, in a group of NCCL alone, the reason as it is.
Explain explainer(std::shared_ptr<const Peers> peers, WaitsFor waits_for = {});

}  // namespace ddp::detail
