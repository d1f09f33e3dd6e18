#include "worker_sdk/src/future_limits.h"

#include <utility>

#include "worker_sdk/src/pass_on.h"

namespace ddp::detail {

FutureLimits::FutureLimits(std::chrono::milliseconds limit) : limit_(limit) {}

FutureLimits::~FutureLimits() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->changed.notify_all();
  if (thread_.joinable()) thread_.join();
}

FuturePtr FutureLimits::limited(const FuturePtr& given, std::exception_ptr late) {
  if (given->completed()) return given;
  auto future = c10::make_intrusive<c10::ivalue::Future>(given->elementType(), given->devices());
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(state_->mutex);
    number = state_->next++;
    const auto end = std::chrono::steady_clock::now() + limit_;
    state_->waiting.emplace(number, Waiting{end, future, std::move(late)});
    if (!thread_.joinable()) thread_ = std::thread([state = state_] { watch(state); });
  }
  state_->changed.notify_all();
  given->addCallback([state = state_, number](c10::ivalue::Future& done) {
    if (const FuturePtr waiting = take(*state, number)) pass_on(done, *waiting);
  });
  return future;
}

FuturePtr FutureLimits::take(State& state, std::uint64_t number) {
  const std::lock_guard lock(state.mutex);
  const auto found = state.waiting.extract(number);
  return found ? found.mapped().future : FuturePtr();
}

void FutureLimits::watch(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  while (!state->stop) {
    if (state->waiting.empty()) {
      state->changed.wait(lock);
      continue;
    }
    const auto first = state->waiting.begin();
    if (std::chrono::steady_clock::now() < first->second.end) {
      state->changed.wait_until(lock, std::chrono::steady_clock::time_point(first->second.end));
      continue;
    }
    const Waiting late = std::move(state->waiting.extract(first).mapped());
    lock.unlock();  // whoever waits for it goes on in setError
    late.future->setError(late.late);
    lock.lock();
  }
}

}  // namespace ddp::detail
