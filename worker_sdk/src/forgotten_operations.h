// Ends operations that Gloo forgets.
//
// Of a connection that breaks, Gloo tells those operations that wait for their turn on it, but not
// one whose message is half on its way: that one would wait until the time-out of the group, half
// an hour, though the rank on which it waits has ended and Gloo has closed the connection.
#pragma once

#include <ATen/core/ivalue.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "worker_sdk/src/own_sockets.h"

namespace ddp::detail {

// How long nothing may move on a group's connections, one of which has been closed, while an
// operation waits in which all ranks take part.
constexpr std::chrono::milliseconds kForgottenAfter{10'000};

class ForgottenOperations {
 public:
  using FuturePtr = c10::intrusive_ptr<c10::ivalue::Future>;
  // The error of an operation, of the address at the other end of the closed connection.
  using Fail = std::function<std::exception_ptr(const std::string& peer)>;

  // `connections` are a group's, one to each other member.
  explicit ForgottenOperations(std::vector<Connection> connections,
                               std::chrono::milliseconds patience = kForgottenAfter);
  ~ForgottenOperations();
  ForgottenOperations(const ForgottenOperations&) = delete;
  ForgottenOperations& operator=(const ForgottenOperations&) = delete;

  // A future that ends as `given` does, or with `fail` once the operation is forgotten. Any thread.
  FuturePtr watched(const FuturePtr& given, Fail fail);

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    Clock::time_point since;
    FuturePtr future;
    Fail fail;
  };

  // Its thread owns it as well, and is left to itself: it may be the one that lets go of the last
  // operation of a group.
  struct State {
    std::vector<Connection> connections;
    std::chrono::milliseconds patience;
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::uint64_t, Waiting> waiting;  // in the order of their beginnings
    std::uint64_t next = 0;
    bool watches = false, stop = false;
    // The thread's own: what had moved when it looked last, and since when nothing has.
    std::uint64_t moved = 0;
    Clock::time_point still_since = Clock::now();
  };

  static void watch(const std::shared_ptr<State>& state);
  static std::string broken_connection(State& state, Clock::time_point now);
  static void fail_those_before(Clock::time_point limit, const std::string& peer, State& state,
                                std::unique_lock<std::mutex>& lock);

  std::shared_ptr<State> state_;
};

}  // namespace ddp::detail
