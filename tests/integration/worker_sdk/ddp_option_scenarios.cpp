#include <torch/torch.h>

#include <iostream>
#include <limits>

#include "ddp/ddp.h"
#include "tests/integration/worker_sdk/scenarios.h"

namespace ddp::test {
namespace {

using Sequential = torch::nn::Sequential;
using Options = DistributedDataParallelOptions;

// One weight and one buffer, both rank + 1 until somebody sends others.
struct CounterImpl : torch::nn::Module {
  CounterImpl()
      : weight(register_parameter("weight", torch::full({1}, 1.0 + rank()))),
        count(register_buffer("count", torch::full({1}, 1.0 + rank()))) {}
  at::Tensor forward(const at::Tensor& x) { return x * weight; }
  at::Tensor weight, count;
};
TORCH_MODULE(Counter);

void show(const DistributedDataParallel<Counter>& model, const std::string& when) {
  std::cout << when << ": weight " << model.module().weight.item<float>() << ", count "
            << model.module().count.item<float>() << std::endl;
}

void construct_and_forward(const Options& options) {
  init_process_group();
  DistributedDataParallel<Counter> model(Counter{}, options);
  show(model, "constructed");
  model.module().count.fill_(10 + rank());
  model(torch::ones({1}));
  show(model, "after forward");
}

void option_no_init_sync() {
  construct_and_forward({.init_sync = false});
}
void option_forward_sync_off() {
  construct_and_forward({.forward_sync_buffers = false});
}
void option_forward_sync_on() {
  construct_and_forward({.broadcast_buffers = false, .forward_sync_buffers = true});
}

// 200 numbers in each of two layers.
Sequential two_layers() {
  const auto layer = torch::nn::LinearOptions(10, 20).bias(false);
  return Sequential(torch::nn::Linear(layer), torch::nn::ReLU(),
                    torch::nn::Linear(torch::nn::LinearOptions(20, 10).bias(false)));
}

void train_with(const Options& options) {
  init_process_group();
  torch::manual_seed(1);
  DistributedDataParallel<Sequential> model(two_layers(), options);
  for (int i = 0; i < 3; ++i) model(torch::ones({1, 10}) * (1 + rank())).sum().backward();
  Sequential alone = two_layers();
  for (std::size_t i = 0; i < 2; ++i) {
    alone->parameters()[i].data().copy_(model.parameters()[i].data());
  }
  for (int each = 0; each < world_size(); ++each) {
    (alone->forward(torch::ones({1, 10}) * (1 + each)).sum() * 3 / world_size()).backward();
  }
  std::cout << "as one process: "
            << torch::allclose(model.parameters()[0].grad(), alone->parameters()[0].grad())
            << std::endl;
  std::cout << "buckets: " << model.logging_data()["bucket_sizes"] << " then "
            << model.logging_data()["rebuilt_bucket_sizes"] << std::endl;
}

void option_cap_list() {
  train_with({.bucket_cap_mb_list = {0.0005, 25}});
}
void option_batched_copy() {
  train_with({.batched_grad_copy = true});
}
void option_lazy_buckets() {
  train_with({.lazy_bucket_allocation = true});
}
// More bytes than 64 bits can count.
void option_endless_buckets() {
  train_with({.bucket_cap_mb = std::numeric_limits<double>::infinity()});
}
void option_twice_unused() {
  train_with({.find_unused_parameters = true, .static_graph = true});
}

void show_refusal(const Options& options) {
  try {
    DistributedDataParallel<Sequential> model(two_layers(), options);
  } catch (const Error& error) {
    std::cout << error.what() << std::endl;
  }
}

void option_wrong() {
  init_process_group();
  show_refusal({.bucket_cap_mb = 0});
  show_refusal({.bucket_cap_mb_list = {1, -1}});
  show_refusal({.device = c10::Device("cuda:0")});
}

}  // namespace

Scenarios ddp_option_scenarios() {
  return {{"option_no_init_sync", option_no_init_sync},
          {"option_forward_sync_off", option_forward_sync_off},
          {"option_forward_sync_on", option_forward_sync_on},
          {"option_cap_list", option_cap_list},
          {"option_batched_copy", option_batched_copy},
          {"option_lazy_buckets", option_lazy_buckets},
          {"option_endless_buckets", option_endless_buckets},
          {"option_twice_unused", option_twice_unused},
          {"option_wrong", option_wrong}};
}

}  // namespace ddp::test
