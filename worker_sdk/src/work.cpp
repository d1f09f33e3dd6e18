#include "ddp/work.h"

#include <ATen/core/grad_mode.h>

#include <utility>

#include "worker_sdk/src/gloo_backend.h"
#include "worker_sdk/src/translate.h"
#include "worker_sdk/src/work_state.h"

namespace ddp {
namespace {

template <class Action>
auto translated_of(const detail::WorkState& state, Action&& action) {
  return detail::translated(state.group->global_rank, state.what, std::forward<Action>(action),
                            detail::explain_lost_or_late);
}

}  // namespace

bool Work::is_completed() const {
  return !state_ || state_->work->isCompleted();
}

bool Work::is_success() const {
  return !state_ || (state_->work->isCompleted() && !state_->work->exception());
}

void Work::wait() {
  wait_at_most(std::chrono::milliseconds{0});
}

void Work::wait(std::chrono::milliseconds timeout) {
  if (!state_) return;
  if (timeout.count() <= 0) {
    throw Error(state_->group->global_rank,
                state_->what + ": the timeout of wait must be longer than zero");
  }
  wait_at_most(timeout);
}

void Work::wait_at_most(std::chrono::milliseconds timeout) {
  if (!state_) return;
  translated_of(*state_, [&] {
    state_->work->wait(timeout);
    const at::NoGradGuard no_grad;
    if (const auto finish = std::exchange(state_->finish, nullptr)) finish();
  });
}

std::vector<at::Tensor> Work::result() {
  wait();
  return state_ ? state_->results : std::vector<at::Tensor>{};
}

std::exception_ptr Work::exception() const {
  const std::exception_ptr failure = state_ ? state_->work->exception() : nullptr;
  if (!failure) return nullptr;
  try {
    translated_of(*state_, [&] { std::rethrow_exception(failure); });
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

int Work::source_rank() const {
  if (!state_ || state_->what != "recv") return -1;
  const int source = translated_of(*state_, [&] { return state_->work->sourceRank(); });
  return state_->group->ranks.at(static_cast<std::size_t>(source));
}

}  // namespace ddp
