#include "ddp/work.h"

#include <ATen/core/grad_mode.h>

#include <utility>

#include "worker_sdk/src/future_state.h"
#include "worker_sdk/src/text.h"
#include "worker_sdk/src/translate.h"
#include "worker_sdk/src/work_state.h"

namespace ddp {
namespace {

template <class Action>
auto translated_of(const detail::WorkState& state, Action&& action) {
  return detail::translated(state.group->global_rank, state.what, std::forward<Action>(action),
                            detail::explainer(state.group->peers, state.waits_for));
}

void finish_once(detail::WorkState& state) {
  if (!state.finish) return;
  std::call_once(state.finished, [&] {
    const at::NoGradGuard no_grad;
    state.finish();
  });
}

}  // namespace

namespace detail {

void wait_for(c10d::Work& work, std::chrono::milliseconds timeout, int global_rank,
              const std::string& what) {
  try {
    work.wait(timeout);
  } catch (const std::exception&) {
    if (timeout.count() <= 0) throw;
    if (work.isCompleted()) {  // in this moment, or it has failed
      work.wait();
      return;
    }
    throw Error(global_rank, what + " is not over after " + seconds(timeout) + "; it goes on");
  }
}

}  // namespace detail

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
  if (state_->only_whole_waits) {
    throw Error(state_->group->global_rank,
                state_->what +
                    ": a wait with a limit would end the whole group, as Gloo does it: wait "
                    "without one, in a group with a shorter timeout (new_group)");
  }
  wait_at_most(timeout);
}

void Work::wait_at_most(std::chrono::milliseconds timeout) {
  if (!state_) return;
  translated_of(*state_, [&] {
    detail::wait_for(*state_->work, timeout, state_->group->global_rank, state_->what);
    finish_once(*state_);
  });
}

Future Work::get_future() const {
  if (!state_) return Future(at::Tensor());
  auto future = translated_of(*state_, [&] { return state_->work->getFuture(); });
  auto result = future->then(
      [state = state_](c10::ivalue::Future& done) {
        translated_of(*state, [&] {
          done.value();
          finish_once(*state);
        });
        return c10::IValue(state->results.empty() ? at::Tensor() : state->results[0]);
      },
      c10::TensorType::get());
  return Future(std::make_shared<detail::FutureState>(detail::FutureState{std::move(result)}));
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
  return source < 0 ? -1 : state_->group->ranks.at(static_cast<std::size_t>(source));
}

}  // namespace ddp
