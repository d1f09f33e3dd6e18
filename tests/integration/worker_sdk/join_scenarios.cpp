#include <signal.h>
#include <torch/torch.h>

#include <iostream>
#include <stdexcept>

#include "ddp/ddp.h"
#include "tests/integration/worker_sdk/scenarios.h"

namespace ddp::test {
namespace {

// One weight, whose gradient is the input, and how often this rank saw one.
struct CounterImpl : torch::nn::Module {
  CounterImpl()
      : weight(register_parameter("weight", torch::zeros({1}))),
        seen(register_buffer("seen", torch::zeros({1}))) {}
  at::Tensor forward(const at::Tensor& x) {
    seen.add_(1);
    return x * weight;
  }
  at::Tensor weight, seen;
};
TORCH_MODULE(Counter);
using Model = DistributedDataParallel<Counter>;

// Subtracts the gradient from the weight.
void step(Model& model) {
  const at::NoGradGuard no_grad;
  model.module().weight.sub_(model.module().weight.grad());
  model.zero_grad();
}

void train(Model& model, int batches) {
  for (int i = 0; i < batches; ++i) {
    model(torch::full({1}, 1.0 + rank())).sum().backward();
    step(model);
  }
}

void show(const Model& model) {
  std::cout << "weight " << model.module().weight.item<float>() << ", seen "
            << model.module().seen.item<float>() << std::endl;
}

// Rank r has r + 1 inputs of r + 1.
void join_uneven(const JoinOptions& options) {
  init_process_group();
  Model model(Counter{});
  {
    const auto guard = model.join(options);
    train(model, rank() + 1);
  }
  show(model);
  std::cout << "logged: " << model.logging_data()["join_uneven_inputs"] << std::endl;
}

void join_initial() {
  join_uneven({});
}
void join_effective() {
  join_uneven({.divide_by_initial_world_size = false});
}
void join_throwing() {
  join_uneven({.throw_on_early_termination = true});
}

// After it has thrown everywhere the ranks train on together.
void join_throwing_and_go_on() {
  init_process_group({.timeout = std::chrono::seconds(20)});
  Model model(Counter{});
  try {
    const auto guard = model.join({.throw_on_early_termination = true});
    train(model, rank() + 1);
  } catch (const Error&) {
    std::cout << "thrown" << std::endl;
  }
  model.zero_grad();
  train(model, 1);
  const auto ranks = torch::ones({1});
  all_reduce(ranks);
  std::cout << "ranks: " << ranks.item<float>() << std::endl;
  show(model);
}

// A static graph knows after its first iteration which parameters are unused.
void join_static_graph() {
  init_process_group({.timeout = std::chrono::seconds(20)});
  Model model(Counter{}, {.find_unused_parameters = true, .static_graph = true});
  {
    const auto guard = model.join();
    train(model, 1 + rank());
  }
  show(model);
}

template <class AnyModel>
void show_refusal(AnyModel& model) {
  try {
    const auto guard = model.join();
    std::cout << "not refused" << std::endl;
  } catch (const Error& error) {
    std::cout << error.what() << std::endl;
  }
}

void join_refused() {
  init_process_group();
  torch::nn::Sequential net(torch::nn::Linear(2, 2),
                            torch::nn::Embedding(torch::nn::EmbeddingOptions(4, 2).sparse(true)));
  DistributedDataParallel<torch::nn::Sequential> sparse(net);
  show_refusal(sparse);
  const auto disabled = sparse.join({.enable = false});
  Model skipping(Counter{},
                 {.find_unused_parameters = true, .skip_all_reduce_unused_params = true});
  show_refusal(skipping);
}

void join_even() {
  init_process_group();
  Model model(Counter{});
  {
    const auto guard = model.join({.throw_on_early_termination = true});
    train(model, 2);
  }
  {
    const auto guard = model.join({.enable = false});
    train(model, 1);
  }
  show(model);
}

// Afterwards a rank may evaluate alone, gradients are divided by all ranks again, and join() may be
// called again.
void join_and_go_on() {
  init_process_group();
  Model model(Counter{}, {.broadcast_buffers = false});
  for (int epoch = 0; epoch < 2; ++epoch) {
    {
      const auto guard = model.join({.divide_by_initial_world_size = false});
      train(model, rank() + 1);
    }
    const at::NoGradGuard no_grad;
    if (rank() == 0) model(torch::ones({1}));
    const auto ranks = torch::ones({1});
    all_reduce(ranks);
    std::cout << "ranks: " << ranks.item<float>() << std::endl;
  }
  train(model, 1);
  show(model);
}

void join_no_sync() {
  init_process_group();
  Model model(Counter{});
  {
    const auto guard = model.join();
    for (int i = 0; i < rank() + 1; ++i) {
      {
        const auto no_sync = model.no_sync();
        model(torch::ones({1})).sum().backward();
      }
      train(model, 1);
    }
  }
  show(model);
}

void join_finish() {
  init_process_group();
  Model model(Counter{});
  auto guard = model.join();
  train(model, rank() + 1);
  guard.finish();
  show(model);
  guard.finish();
}

// The guard leaves the collectives alone, so the other rank does not get an answer.
void join_left_by_an_exception() {
  init_process_group();  // which may take long
  Model model(Counter{}, {.process_group = new_group({}, std::chrono::seconds(2))});
  const auto guard = model.join();
  train(model, 1);
  if (rank() == 1) throw std::runtime_error("my data is broken");
  train(model, 1);
}

void join_peer_lost() {
  init_process_group();
  Model model(Counter{});
  const auto guard = model.join();
  train(model, 1 + rank());
  if (rank() == 1) raise(SIGKILL);
}

}  // namespace

Scenarios join_scenarios() {
  return {
      {"join_initial", join_initial},     {"join_effective", join_effective},
      {"join_throwing", join_throwing},   {"join_even", join_even},
      {"join_and_go_on", join_and_go_on}, {"join_no_sync", join_no_sync},
      {"join_finish", join_finish},       {"join_left_by_an_exception", join_left_by_an_exception},
      {"join_peer_lost", join_peer_lost}, {"join_throwing_and_go_on", join_throwing_and_go_on},
      {"join_refused", join_refused},     {"join_static_graph", join_static_graph}};
}

}  // namespace ddp::test
