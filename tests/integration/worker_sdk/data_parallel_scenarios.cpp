#include <signal.h>
#include <torch/torch.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <thread>

#include "ddp/ddp.h"
#include "tests/integration/worker_sdk/scenarios.h"

namespace ddp::test {
namespace {

using Sequential = torch::nn::Sequential;

constexpr int kShare = 4;  // samples of a rank

at::Tensor share_of(const at::Tensor& batch) {
  return batch.slice(0, rank() * kShare, (rank() + 1) * kShare);
}

// Different on each rank until DistributedDataParallel has made them the same.
Sequential make_net() {
  torch::manual_seed(100 + rank());
  Sequential net(torch::nn::Linear(8, 300), torch::nn::Tanh(), torch::nn::Linear(300, 2));
  net->to(at::kDouble);
  return net;
}

at::Tensor make_batch(int step) {
  torch::manual_seed(step);
  return torch::randn({kShare * world_size(), 8}, at::kDouble);
}

double largest_difference(const std::vector<at::Tensor>& some,
                          const std::vector<at::Tensor>& others) {
  double largest = 0;
  for (size_t i = 0; i < some.size(); ++i) {
    largest = std::max(largest, (some[i].grad() - others[i].grad()).abs().max().item<double>());
  }
  return largest;
}

// Several buckets, three steps, each compared with one process that sees the whole batch.
void joined_batch() {
  init_process_group();
  const Sequential net = make_net();
  auto model = DistributedDataParallel<Sequential>(net, {.bucket_cap_mb = 0.005});
  const auto alone = std::dynamic_pointer_cast<torch::nn::SequentialImpl>(net->clone());
  torch::optim::SGD optimizer(model->parameters(), 0.1), optimizer_alone(alone->parameters(), 0.1);
  double largest = 0;
  for (int step = 0; step < 3; ++step) {
    const at::Tensor batch = make_batch(step);
    optimizer.zero_grad();
    optimizer_alone.zero_grad();
    model->forward(share_of(batch)).square().mean().backward();
    alone->forward(batch).square().mean().backward();
    largest = std::max(largest, largest_difference(model->parameters(), alone->parameters()));
    optimizer.step();
    optimizer_alone.step();
  }
  std::cout << "largest difference: " << largest << std::endl;
  destroy_process_group();
}

// Two micro batches without, one with averaging: the sum of three steps of one process.
void no_sync() {
  init_process_group();
  const Sequential net = make_net();
  auto model = DistributedDataParallel<Sequential>(net);
  const auto alone = std::dynamic_pointer_cast<torch::nn::SequentialImpl>(net->clone());
  for (int step = 0; step < 3; ++step) {
    const at::Tensor batch = make_batch(step);
    if (step < 2) {
      const auto guard = model.no_sync();
      model(share_of(batch)).mean().backward();
    } else {
      model(share_of(batch)).mean().backward();
    }
    alone->forward(batch).mean().backward();
    if (step == 1) {
      const bool same = largest_difference(model->parameters(), alone->parameters()) < 1e-12;
      std::cout << "averaged inside: " << same << std::endl;
    }
  }
  std::cout << "largest difference: "
            << largest_difference(model->parameters(), alone->parameters()) << std::endl;
}

struct CounterImpl : torch::nn::Module {
  CounterImpl()
      : weight(register_parameter("weight", torch::ones({1}))),
        count(register_buffer("count", torch::full({1}, 10.0 * (1 + ddp::rank())))) {}
  at::Tensor forward(const at::Tensor& x) { return x * weight + count; }
  at::Tensor weight, count;
};
TORCH_MODULE(Counter);

void buffers() {
  init_process_group();
  auto synced = DistributedDataParallel<Counter>(Counter{});
  auto own = DistributedDataParallel<Counter>(Counter{}, {.broadcast_buffers = false});
  std::cout << "at construction: " << synced.module().count.item<float>() << " "
            << own.module().count.item<float>() << std::endl;
  synced.module().count.fill_(rank() + 5);
  synced.forward(torch::zeros({1}));
  std::cout << "after forward: " << synced.module().count.item<float>() << std::endl;
  {
    const auto guard = synced.no_sync();
    synced.forward(torch::zeros({1}));
    synced.module().count.fill_(rank() + 7);
    synced.forward(torch::zeros({1}));
    std::cout << "inside no_sync: " << synced.module().count.item<float>() << std::endl;
  }
}

// `used` takes part in the outputs, `sometimes` only where `both` is true, `never` in one that no
// loss looks at, or in none at all.
struct BranchesImpl : torch::nn::Module {
  BranchesImpl() {
    used = register_module("used", torch::nn::Linear(2, 2));
    sometimes = register_module("sometimes", torch::nn::Linear(2, 2));
    never = register_module("never", torch::nn::Linear(2, 2));
  }
  std::pair<at::Tensor, std::map<std::string, std::vector<at::Tensor>>> forward(const at::Tensor& x,
                                                                                bool both,
                                                                                bool run_never) {
    const at::Tensor first = used(x);
    std::map<std::string, std::vector<at::Tensor>> more;
    more["other"] = {x, both ? sometimes(first) : at::Tensor()};
    if (run_never) more["ignored by the loss"] = {never(x)};
    return {first, more};
  }
  torch::nn::Linear used{nullptr}, sometimes{nullptr}, never{nullptr};
};
TORCH_MODULE(Branches);

std::string gradient(const torch::nn::Linear& layer) {
  const at::Tensor bias_gradient = layer->bias.grad();
  if (!bias_gradient.defined()) return "undefined";
  return std::to_string(bias_gradient[0].item<float>());
}

void run_branches(const DistributedDataParallelOptions& options, bool both_on_last_rank_only) {
  init_process_group();
  torch::manual_seed(1);
  auto model = DistributedDataParallel<Branches>(Branches{}, options);
  for (int step = 0; step < 3; ++step) {
    model.zero_grad();
    const bool both = !both_on_last_rank_only || rank() == world_size() - 1;
    const auto [first, more] = model(torch::ones({3, 2}), both, !options.static_graph);
    at::Tensor loss = first.sum();
    if (both) loss = more.at("other")[1].sum();
    (loss * (1 + rank())).backward();  // so that an average shows
    std::cout << "sometimes: " << gradient(model.module().sometimes)
              << ", never: " << gradient(model.module().never) << std::endl;
  }
}

void find_unused() {
  run_branches({.find_unused_parameters = true}, true);
}
void static_graph() {
  run_branches({.static_graph = true}, false);
}
void unused_not_looked_for() {
  run_branches({}, false);
}

// As some freeze a layer: too late, for the Reducer waits for it.
void frozen_after_wrapping() {
  init_process_group();
  const Sequential net = make_net();
  auto model = DistributedDataParallel<Sequential>(net);
  net->parameters()[1].requires_grad_(false);
  for (int step = 0; step < 2; ++step) model(share_of(make_batch(step))).mean().backward();
}

void bucket_view() {
  init_process_group();
  const Sequential net = make_net();
  auto model = DistributedDataParallel<Sequential>(net, {.gradient_as_bucket_view = true});
  torch::optim::SGD optimizer(model->parameters(), 0.1);
  for (int step = 0; step < 3; ++step) {
    ddp::zero_grad(optimizer);
    model(share_of(make_batch(step))).mean().backward();
    optimizer.step();
  }
  double sum = 0;
  for (const at::Tensor& each : model->parameters()) sum += each.abs().sum().item<double>();
  const std::vector<at::Tensor> sums = all_gather(torch::tensor({sum}, at::kDouble));
  std::cout << "same weights: " << torch::equal(sums.front(), sums.back()) << std::endl;
}

// Calls `between` in backward: after the gradients of `last`, before those of `first`.
struct InterruptedImpl : torch::nn::Module {
  InterruptedImpl() {
    first = register_module("first", torch::nn::Linear(2, 2));
    last = register_module("last", torch::nn::Linear(2, 1));
  }
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor hidden = torch::tanh(first(x));
    hidden.register_hook([this](const at::Tensor&) { between(); });
    return last(hidden);
  }
  torch::nn::Linear first{nullptr}, last{nullptr};
  std::function<void()> between = [] {};
};
TORCH_MODULE(Interrupted);

// Whether the gradients of the last layer, views into a bucket, are averaged while backward has
// still to compute those of the first. Without overlap that never happens.
void overlap() {
  init_process_group();
  auto model = DistributedDataParallel<Interrupted>(
      Interrupted{}, {.bucket_cap_mb = 1e-5, .gradient_as_bucket_view = true});
  const auto backward = [&] { (model(torch::ones({1, 2})).sum() * (1 + rank())).backward(); };
  backward();  // 1.5 on two ranks; afterwards the buckets are small ones
  model.module().between = [&model] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const auto average = [&] { return model.module().last->bias.grad()[0].item<float>(); };
    while (average() != 3 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    std::cout << "in between: " << average() << std::endl;
  };
  backward();  // adds another 1.5
}

void different_models() {
  init_process_group();
  auto net = std::make_shared<torch::nn::LinearImpl>(4, rank() == 1 ? 3 : 2);
  DistributedDataParallel model(net);
}

// Same sizes, another order in memory: the buckets would add up elements that do not belong
// together.
void different_strides() {
  init_process_group();
  auto net = std::make_shared<torch::nn::Conv2dImpl>(torch::nn::Conv2dOptions(3, 4, 2));
  if (rank() == 1) net->weight.set_data(net->weight.contiguous(at::MemoryFormat::ChannelsLast));
  DistributedDataParallel model(net);
}

void nothing_to_train() {
  init_process_group();
  DistributedDataParallel<torch::nn::ReLU> model(torch::nn::ReLU{});
}

void peer_lost_in_backward() {
  init_process_group();
  auto model = DistributedDataParallel<Sequential>(make_net());
  const at::Tensor loss = model(share_of(make_batch(0))).mean();
  if (rank() == 1) raise(SIGKILL);
  loss.backward();
}

// Rank 1 ends in the third step; the others notice it in their all_reduce.
template <class End>
void train_until(End end) {
  init_process_group();
  std::optional model = DistributedDataParallel<Sequential>(make_net());
  for (int step = 0;; ++step) {
    if (rank() == 1 && step == 3) end(model);
    (*model)(share_of(make_batch(0))).mean().backward();
  }
}

// Its connections are closed long before it has ended.
void exit_in_training() {
  train_until([](auto& model) {
    model.reset();
    destroy_process_group();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::exit(42);
  });
}

void crash_in_training() {
  train_until([](auto&) { raise(SIGSEGV); });
}

void throw_in_training() {
  train_until([](auto&) { throw std::runtime_error("my data is broken"); });
}

void group_of_two() {
  init_process_group();
  const ProcessGroup pair = new_group({0, 2});
  torch::manual_seed(rank());
  auto net = std::make_shared<torch::nn::LinearImpl>(1, 1);
  if (!pair.is_member()) return;
  DistributedDataParallel model(net, {.process_group = pair});
  model(torch::full({1, 1}, 1.0 + rank())).sum().backward();
  std::cout << "gradient: " << net->weight.grad().item<float>() << std::endl;
}

}  // namespace

Scenarios data_parallel_scenarios() {
  return {{"joined_batch", joined_batch},
          {"no_sync", no_sync},
          {"buffers", buffers},
          {"find_unused", find_unused},
          {"static_graph", static_graph},
          {"unused_not_looked_for", unused_not_looked_for},
          {"frozen_after_wrapping", frozen_after_wrapping},
          {"bucket_view", bucket_view},
          {"overlap", overlap},
          {"different_models", different_models},
          {"different_strides", different_strides},
          {"nothing_to_train", nothing_to_train},
          {"peer_lost_in_backward", peer_lost_in_backward},
          {"exit_in_training", exit_in_training},
          {"crash_in_training", crash_in_training},
          {"throw_in_training", throw_in_training},
          {"group_of_two", group_of_two}};
}

}  // namespace ddp::test
