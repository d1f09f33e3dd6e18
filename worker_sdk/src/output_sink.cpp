#include "worker_sdk/src/output_sink.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/engine.h>

namespace ddp::detail {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Sink : torch::autograd::Function<Sink> {
  // The outputs come as a TensorList because LibTorch does not look for tensors inside a
  // std::vector.
  static variable_list forward(AutogradContext* context, const c10::intrusive_ptr<SinkState>& state,
                               at::TensorList outputs) {
    context->set_materialize_grads(false);
    context->saved_data["state"] = c10::IValue::make_capsule(state);
    variable_list copies;
    for (const at::Tensor& output : outputs) copies.push_back(output.clone());
    return copies;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto holder = context->saved_data["state"].toCapsule();
    auto& state = static_cast<SinkState&>(*holder);
    if (state.static_graph && !state.delay_all_reduce_enqueued) {
      torch::autograd::Engine::get_default_engine().queue_callback(
          [reducer = state.reducer] { reducer->delay_all_reduce(); });
      state.delay_all_reduce_enqueued = true;
    }
    variable_list result{at::Tensor()};  // for `state`, which is no tensor
    result.insert(result.end(), gradients.begin(), gradients.end());
    return result;
  }
};

}  // namespace

void pass_through_sink(const c10::intrusive_ptr<SinkState>& state,
                       const std::vector<at::Tensor*>& outputs) {
  std::vector<at::Tensor*> slots;
  variable_list tensors;
  for (at::Tensor* output : outputs) {
    if (!output->defined() || !output->grad_fn()) continue;
    slots.push_back(output);
    tensors.push_back(*output);
  }
  if (tensors.empty()) return;
  const variable_list copies = Sink::apply(state, at::TensorList(tensors));
  for (std::size_t i = 0; i < slots.size(); ++i) *slots[i] = copies[i];
}

}  // namespace ddp::detail
