// A tensor that will be there later.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "ddp/export.h"

namespace ddp {

namespace detail {
struct FutureState;  // owns c10's Future; src/future_state.h
}

// What Work::get_future gives and a communication hook returns. Copies mean the same one. Any
// thread may complete it and wait for it.
// PyTorch: torch.futures.Future[torch.Tensor].
class DDP_API Future {
 public:
  // Completed, with this value. Not explicit, so that a hook may simply return a tensor.
  Future(const at::Tensor& value);  // NOLINT(google-explicit-constructor)
  // Not completed yet: somebody will call set_result or set_exception. `devices` are the GPUs on
  // which the value will lie; empty means the CPU.
  explicit Future(std::vector<c10::Device> devices = {});
  explicit Future(std::shared_ptr<detail::FutureState> state) : state_(std::move(state)) {}

  // Whether wait() would return at once.
  bool done() const;
  // Blocks until it is completed; then its value, or throws what it failed with. On CUDA later work
  // of the current stream will see the value.
  at::Tensor wait() const;

  // What `callback` makes of the value. It runs on the thread that completes this one, or at once
  // if that has happened. If this one fails or `callback` throws, the new one fails with the same
  // exception; with std::runtime_error "unknown exception" where that is not derived from
  // std::exception. (Python calls it with the future, also with a failed one.)
  Future then(std::function<at::Tensor(const at::Tensor& value)> callback) const;

  // Completes it; once only, else c10::Error is thrown.
  void set_result(const at::Tensor& value);
  void set_exception(std::exception_ptr failure);

  // For the SDK itself.
  const std::shared_ptr<detail::FutureState>& state() const { return state_; }

 private:
  std::shared_ptr<detail::FutureState> state_;
};

}  // namespace ddp
