#include "ddp/optim.h"

#include <ATen/Functions.h>

#include <cmath>
#include <memory>

#include "ddp/error.h"
#include "worker_sdk/src/checkpoint_file.h"

namespace ddp::optim {
namespace {

using torch::optim::Optimizer;

template <class State>
State& state_of(Optimizer& optimizer, const at::Tensor& parameter, bool amsgrad) {
  auto& slot = optimizer.state()[parameter.unsafeGetTensorImpl()];
  if (!slot) {
    auto fresh = std::make_unique<State>();
    fresh->step(0);
    fresh->exp_avg(at::zeros_like(parameter));
    fresh->exp_avg_sq(at::zeros_like(parameter));
    slot = std::move(fresh);
  }
  auto& state = static_cast<State&>(*slot);
  // It may have been switched on since.
  if (amsgrad && !state.max_exp_avg_sq().defined()) {
    state.max_exp_avg_sq(at::zeros_like(parameter));
  }
  return state;
}

at::Tensor as_real(const at::Tensor& tensor) {
  return tensor.is_complex() ? at::view_as_real(tensor) : tensor;
}

// Every operation, its order and its precision are those of _single_tensor_adam in
// torch/optim/adam.py.
template <class State, class Options>
void update(const at::Tensor& parameter, State& state, const Options& options, bool decoupled) {
  const auto [beta1, beta2] = options.betas();
  state.step(state.step() + 1);
  at::Tensor gradient = parameter.grad();
  if (options.weight_decay() != 0) {
    if (decoupled) {
      parameter.mul_(1 - options.lr() * options.weight_decay());
    } else {
      gradient = gradient.add(parameter, options.weight_decay());
    }
  }
  gradient = as_real(gradient);
  const at::Tensor mean = as_real(state.exp_avg()), square = as_real(state.exp_avg_sq());
  mean.lerp_(gradient, 1 - beta1);
  square.mul_(beta2).addcmul_(gradient, gradient, 1 - beta2);

  const auto step = static_cast<double>(state.step());
  const double correction1 = 1 - std::pow(beta1, step), correction2 = 1 - std::pow(beta2, step);
  const double correction2_root = std::pow(correction2, 0.5);
  at::Tensor largest = square;
  if (options.amsgrad()) {
    largest = as_real(state.max_exp_avg_sq());
    at::maximum_out(largest, largest, square);
  }
  const at::Tensor denominator = (largest.sqrt() / correction2_root).add_(options.eps());
  as_real(parameter).addcdiv_(mean, denominator, -(options.lr() / correction1));
}

template <class State, class Options>
at::Tensor step(Optimizer& optimizer, const Optimizer::LossClosure& closure, bool decoupled) {
  const at::NoGradGuard no_grad;
  at::Tensor loss;
  if (closure) {
    const at::AutoGradMode with_grad(true);
    loss = closure();
  }
  for (auto& group : optimizer.param_groups()) {
    const auto& options = static_cast<const Options&>(group.options());
    for (const at::Tensor& parameter : group.params()) {
      if (!parameter.grad().defined()) continue;
      if (parameter.grad().is_sparse()) {
        throw Error(detail::rank_for_messages(),
                    "Adam does not take sparse gradients; use SGD, or an Embedding without sparse");
      }
      update(parameter, state_of<State>(optimizer, parameter, options.amsgrad()), options,
             decoupled);
    }
  }
  return loss;
}

}  // namespace

at::Tensor Adam::step(LossClosure closure) {
  return optim::step<torch::optim::AdamParamState, torch::optim::AdamOptions>(*this, closure,
                                                                              false);
}

at::Tensor AdamW::step(LossClosure closure) {
  return optim::step<torch::optim::AdamWParamState, torch::optim::AdamWOptions>(*this, closure,
                                                                                true);
}

}  // namespace ddp::optim
