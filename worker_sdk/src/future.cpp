#include "ddp/future.h"

#include <ATen/core/jit_type.h>

#include <exception>
#include <stdexcept>
#include <utility>

#include "worker_sdk/src/future_state.h"

namespace ddp {
namespace {

using detail::FutureState;

std::vector<c10::Device> devices_of(const at::Tensor& value) {
  if (!value.defined() || value.is_cpu()) return {};
  return {value.device()};
}

// c10's futures catch no others, so that one would end the process.
template <class Action>
at::Tensor only_standard_exceptions(Action&& action) {
  try {
    return action();
  } catch (const std::exception&) {
    throw;
  } catch (...) {
    throw std::runtime_error("unknown exception");
  }
}

std::shared_ptr<FutureState> pending(std::vector<c10::Device> devices) {
  return std::make_shared<FutureState>(FutureState{
      c10::make_intrusive<c10::ivalue::Future>(c10::TensorType::get(), std::move(devices))});
}

}  // namespace

Future::Future(const at::Tensor& value) : state_(pending(devices_of(value))) {
  set_result(value);
}

Future::Future(std::vector<c10::Device> devices) : state_(pending(std::move(devices))) {}

bool Future::done() const {
  return state_->future->completed();
}

at::Tensor Future::wait() const {
  state_->future->wait();
  return state_->future->value().toTensor();
}

Future Future::then(std::function<at::Tensor(const at::Tensor& value)> callback) const {
  auto next = state_->future->then(
      [callback = std::move(callback)](c10::ivalue::Future& done) {
        return c10::IValue(
            only_standard_exceptions([&] { return callback(done.value().toTensor()); }));
      },
      c10::TensorType::get());
  return Future(std::make_shared<FutureState>(FutureState{std::move(next)}));
}

void Future::set_result(const at::Tensor& value) {
  state_->future->markCompleted(c10::IValue(value));
}

void Future::set_exception(std::exception_ptr failure) {
  state_->future->setError(std::move(failure));
}

}  // namespace ddp
