// Lets nobody wait for ever for a future that the program's own code has to complete.
#pragma once

#include <ATen/core/ivalue.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace ddp::detail {

using FuturePtr = c10::intrusive_ptr<c10::ivalue::Future>;

// Its thread begins with the first future that is not completed at once, and ends with it.
class FutureLimits {
 public:
  explicit FutureLimits(std::chrono::milliseconds limit);
  ~FutureLimits();
  FutureLimits(const FutureLimits&) = delete;
  FutureLimits& operator=(const FutureLimits&) = delete;

  // A future that ends as `given` does, or with `late` once the limit has passed.
  FuturePtr limited(const FuturePtr& given, std::exception_ptr late);

 private:
  struct Waiting {
    std::chrono::steady_clock::time_point end;
    FuturePtr future;
    std::exception_ptr late;
  };

  // Outlives this object in the callbacks of futures that nobody completes.
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::uint64_t, Waiting> waiting;  // in the order of their ends
    std::uint64_t next = 0;
    bool stop = false;
  };

  // The one that waits under this number, for whoever comes first; null if it has been taken.
  static FuturePtr take(State& state, std::uint64_t number);
  static void watch(const std::shared_ptr<State>& state);

  std::chrono::milliseconds limit_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::thread thread_;
};

}  // namespace ddp::detail
