#include "worker_sdk/src/forgotten_operations.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "worker_sdk/src/pass_on.h"

namespace ddp::detail {

ForgottenOperations::ForgottenOperations(std::vector<Connection> connections,
                                         std::chrono::milliseconds patience)
    : state_(std::make_shared<State>()) {
  state_->connections = std::move(connections);
  state_->patience = patience;
}

ForgottenOperations::~ForgottenOperations() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->changed.notify_all();
}

ForgottenOperations::FuturePtr ForgottenOperations::watched(const FuturePtr& given, Fail fail) {
  if (given->completed()) return given;
  auto future = c10::make_intrusive<c10::ivalue::Future>(given->elementType(), given->devices());
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->watches) {
      try {
        std::thread([state = state_] { watch(state); }).detach();
      } catch (const std::system_error&) {
        return given;  // no threads are left
      }
      state_->watches = true;
    }
    number = state_->next++;
    state_->waiting.emplace(number, Waiting{Clock::now(), future, std::move(fail)});
  }
  given->addCallback([state = state_, number](c10::ivalue::Future& done) {
    std::unique_lock lock(state->mutex);
    const auto found = state->waiting.extract(number);
    lock.unlock();
    if (found) pass_on(done, *found.mapped().future);
  });
  return future;
}

// It looks now and then only, so that an operation costs nothing but an entry.
void ForgottenOperations::watch(const std::shared_ptr<State>& state) {
  const auto pause = std::max(state->patience / 10, std::chrono::milliseconds{1});
  std::unique_lock lock(state->mutex);
  while (!state->changed.wait_for(lock, pause, [&] { return state->stop; })) {
    if (state->waiting.empty()) continue;
    const auto now = Clock::now();
    const std::string peer = broken_connection(*state, now);
    if (!peer.empty()) fail_those_before(now - state->patience, peer, *state, lock);
  }
}

// The address at its other end; empty while there is none, or while anything moves on the others.
std::string ForgottenOperations::broken_connection(State& state, Clock::time_point now) {
  const auto closed = std::ranges::find_if_not(state.connections, is_held);
  const bool broken = closed != state.connections.end();
  const std::uint64_t moved = broken ? bytes_moved(state.connections) : 0;
  if (!broken || moved != state.moved) state.still_since = now;
  state.moved = moved;
  return broken && now - state.still_since >= state.patience ? closed->peer : "";
}

void ForgottenOperations::fail_those_before(Clock::time_point limit, const std::string& peer,
                                            State& state, std::unique_lock<std::mutex>& lock) {
  while (!state.waiting.empty() && state.waiting.begin()->second.since <= limit) {
    const Waiting first = std::move(state.waiting.extract(state.waiting.begin()).mapped());
    lock.unlock();  // whoever waits for it goes on in setError
    first.future->setError(first.fail(peer));
    lock.lock();
  }
}

}  // namespace ddp::detail
