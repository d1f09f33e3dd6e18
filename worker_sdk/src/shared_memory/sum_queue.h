// Sums over the ranks of one machine, one after the other and without holding up who asks for them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rendezvous/base/unique_fd.h"
#include "worker_sdk/src/shared_memory/mapping.h"
#include "worker_sdk/src/shared_memory/sum.h"

namespace ddp::detail {

// The ranks that share one memory.
struct SharingRanks {
  int rank = 0;           // this one's index
  std::vector<int> all;   // global ranks
  std::vector<int> pids;  // in this process's space of ids
};

// Makes the exceptions of sums that failed; ranks are global ones. Called from any thread.
struct SumFailures {
  std::function<std::exception_ptr(int rank)> ended;    // or left the group
  std::function<std::exception_ptr(int rank)> gave_up;  // it has waited in vain
  std::function<std::exception_ptr(const std::vector<int>& ranks, std::chrono::milliseconds)> late;
  std::function<std::exception_ptr(const std::string& difference)> differs;
};

// To be owned by a shared_ptr: its threads own it as well.
class SumQueue : public std::enable_shared_from_this<SumQueue> {
 public:
  // Called once, with the failure or null; by the thread that asked or another one.
  using Done = std::function<void(std::exception_ptr)>;

  SumQueue(SharedMapping memory, SharingRanks ranks, SumFailures failures);

  // Sums up `addend` in place over all ranks; its data stays until `done` is called. Waits for the
  // others for some microseconds, if there is a CPU for each of them, and leaves the rest to
  // threads of its own: while one of them is in `done`, which may wait for later sums, another goes
  // on. After a failure all later ones fail with it. Any thread.
  void sum(const Addend& addend, std::chrono::milliseconds timeout, Done done);

  // Returns when all sums that were asked for are done; there must be no more after that. The
  // others are told that this rank has left.
  void close();

 private:
  using Clock = std::chrono::steady_clock;
  struct Order {
    Addend addend;
    std::chrono::milliseconds timeout;
    Clock::time_point asked;
    Done done;
    bool begun = false;
  };

  void serve();
  void work_on_first(std::unique_lock<std::mutex>& lock);
  bool need_a_thread();
  std::exception_ptr finish(Order& order);
  bool finishes_at_once();
  std::exception_ptr failure_of(const Order& order) const;
  std::exception_ptr failure_of_one(int rank) const;
  bool has_ended(int rank) const;
  std::vector<int> global(const std::vector<int>& ranks) const;

  SharedMapping memory_;
  SharingRanks ranks_;
  SumFailures failures_;
  SharedSum sum_;                            // of the thread that works, or under the mutex
  std::vector<ddprun::UniqueFd> processes_;  // pidfds, empty where the process is not there
  const int own_pid_;
  const std::chrono::microseconds patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Order> orders_;
  std::exception_ptr broken_;
  bool closed_ = false;
  // Of the threads one at most works; the others wait to take over, or are in a `done`.
  bool works_ = false;
  int ready_ = 0;
};

}  // namespace ddp::detail
