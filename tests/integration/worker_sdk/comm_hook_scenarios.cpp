#include <torch/torch.h>

#include <cmath>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <thread>

#include "ddp/ddp.h"
#include "tests/integration/worker_sdk/scenarios.h"

namespace ddp::test {
namespace {

using Sequential = torch::nn::Sequential;

// `first` and `second` have a bucket each from the second step on; the gradient of every weight is
// rank + 1.
struct Pair {
  explicit Pair(const InitOptions& options = {}) {
    init_process_group(options);
    net = Sequential(torch::nn::Linear(torch::nn::LinearOptions(2, 3).bias(false)),
                     torch::nn::Linear(torch::nn::LinearOptions(3, 1).bias(false)));
    for (auto& parameter : net->parameters()) parameter.data().fill_(1);
    model.emplace(net, DistributedDataParallelOptions{.bucket_cap_mb = 1e-6});
  }

  void step() {
    model->zero_grad();
    (model->forward(torch::full({1, 2}, 1.0 + rank())).sum()).backward();
  }

  // Gradients of the first layer: [3, 2], all the same number.
  float gradient() const { return net->parameters()[0].grad()[0][0].item<float>(); }

  Sequential net{nullptr};
  std::optional<DistributedDataParallel<Sequential>> model;
};

Future summed(GradBucket& bucket) {
  return all_reduce(bucket.buffer(), ReduceOp::SUM, bucket.process_group(), true).get_future();
}

void describe_bucket(const GradBucket& bucket) {
  std::cout << "bucket " << bucket.index() << (bucket.is_last() ? " (last)" : "") << ": "
            << bucket.buffer().numel();
  for (std::size_t i = 0; i < bucket.gradients().size(); ++i) {
    std::cout << " " << bucket.gradients()[i].sizes() << " of " << bucket.parameters()[i].sizes();
  }
  std::cout << " group of " << bucket.process_group().size() << std::endl;
}

void hook_sees_buckets() {
  Pair pair;
  pair.model->register_comm_hook(
      [](GradBucket& bucket) {
        describe_bucket(bucket);
        return summed(bucket);
      },
      "my_sum");
  for (int i = 0; i < 2; ++i) pair.step();
  std::cout << "gradient: " << pair.gradient() << std::endl;
  std::cout << "name: " << pair.model->logging_data()["comm_hook"] << std::endl;
}

void hook_returns_a_tensor() {
  Pair pair;
  pair.model->register_comm_hook([](GradBucket& bucket) { return bucket.buffer() * 10; });
  pair.step();
  std::cout << "gradient: " << pair.gradient() << std::endl;
  std::cout << "name: " << pair.model->logging_data()["comm_hook"] << std::endl;
}

void hook_is_completed_by_a_thread() {
  Pair pair;
  std::optional<std::thread> worker;
  pair.model->register_comm_hook([&](GradBucket& bucket) {
    Future later;
    if (worker) worker->join();
    worker.emplace([later, bucket]() mutable { later.set_result(bucket.buffer() * 100); });
    return later;
  });
  pair.step();
  worker->join();
  std::cout << "gradient: " << pair.gradient() << std::endl;
}

struct OwnError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What backward throws.
void show_failure(Pair& pair) {
  try {
    pair.step();
  } catch (const OwnError& error) {
    std::cout << "OwnError: " << error.what() << std::endl;
  } catch (const Error& error) {
    std::cout << "ddp::Error: " << error.what() << std::endl;
  }
}

void hook_throws() {
  Pair pair;
  pair.model->register_comm_hook([](GradBucket&) -> Future { throw OwnError("my hook fell"); });
  show_failure(pair);
}

void hook_fails_later() {
  Pair pair;
  pair.model->register_comm_hook([](GradBucket& bucket) {
    return summed(bucket).then(
        [](const at::Tensor&) -> at::Tensor { throw OwnError("my callback fell"); });
  });
  show_failure(pair);
}

// Rank 0's last bucket would wait for ever.
void hook_never_completes() {
  Pair pair({.timeout = std::chrono::seconds(1)});
  pair.model->register_comm_hook([](GradBucket& bucket) {
    return bucket.is_last() && rank() == 0 ? Future() : Future(bucket.buffer());
  });
  show_failure(pair);
}

void hook_returns_another_size() {
  Pair pair;
  pair.model->register_comm_hook([](GradBucket& bucket) { return bucket.buffer().slice(0, 1); },
                                 "cut");
  show_failure(pair);
}

void hook_returns_another_type() {
  Pair pair;
  pair.model->register_comm_hook(
      [](GradBucket& bucket) { return bucket.buffer().to(torch::kDouble); }, "widen");
  show_failure(pair);
}

// A part of a larger tensor, and every second number of one.
void hook_returns_a_view() {
  for (const std::int64_t stride : {1, 2}) {
    if (is_initialized()) destroy_process_group();
    Pair pair;
    pair.model->register_comm_hook([&](GradBucket& bucket) {
      const at::Tensor larger = torch::full({2 * bucket.buffer().numel() + 7}, -1.);
      const at::Tensor part = larger.slice(0, 7, 7 + stride * bucket.buffer().numel(), stride);
      part.copy_(bucket.buffer() * 10);
      return part;
    });
    pair.step();
    const auto parameters = pair.net->parameters();
    std::cout << "gradients: " << parameters[0].grad().min().item<float>() << " to "
              << parameters[0].grad().max().item<float>() << ", "
              << parameters[1].grad().min().item<float>() << std::endl;
  }
}

void hook_returns_nothing() {
  Pair pair;
  pair.model->register_comm_hook([](GradBucket&) { return at::Tensor(); });
  show_failure(pair);
}

void show_refusal(Pair& pair, const CommHook& hook) {
  try {
    pair.model->register_comm_hook(hook);
  } catch (const Error& error) {
    std::cout << error.what() << std::endl;
  }
}

void hook_registered_wrongly() {
  Pair pair;
  show_refusal(pair, nullptr);
  pair.model->register_comm_hook(fp16_compress_hook);
  std::cout << "name: " << pair.model->logging_data()["comm_hook"] << std::endl;
  show_refusal(pair, allreduce_hook);
}

void hook_after_forward() {
  Pair pair;
  {
    const at::NoGradGuard no_grad;
    pair.model->forward(torch::ones({1, 2}));
  }
  pair.model->register_comm_hook(allreduce_hook);  // evaluating is no training
  pair.step();
  std::cout << "gradient: " << pair.gradient() << std::endl;
  DistributedDataParallel<Sequential> started(pair.net);
  started(torch::ones({1, 2}));
  started.register_comm_hook(allreduce_hook);
}

void hook_for_sparse_gradients() {
  init_process_group();
  DistributedDataParallel<torch::nn::Embedding> model(
      torch::nn::Embedding(torch::nn::EmbeddingOptions(4, 2).sparse(true)));
  model.register_comm_hook(bf16_compress_hook);
  model(torch::zeros({1}, torch::kLong)).sum().backward();
}

// 2^-9 more than 1 is lost by bfloat16, 2^-12 more by half precision as well.
void hook_precisions() {
  init_process_group();
  for (const auto& [name, hook] :
       std::map<std::string, CommHook>{{"exact", allreduce_hook},
                                       {"fp16", fp16_compress_hook},
                                       {"bf16", bf16_compress_hook},
                                       {"fp16 wrapper", fp16_compress_wrapper(allreduce_hook)},
                                       {"bf16 wrapper", bf16_compress_wrapper(allreduce_hook)}}) {
    auto net = std::make_shared<torch::nn::LinearImpl>(torch::nn::LinearOptions(2, 1).bias(false));
    DistributedDataParallel model(net);
    model.register_comm_hook(hook);
    model(torch::tensor({{1 + std::pow(2.f, -9.f), 1 + std::pow(2.f, -12.f)}})).sum().backward();
    std::cout << name << ": " << (net->weight.grad() - 1).reshape({2})[0].item<float>() * 4096
              << " " << (net->weight.grad() - 1).reshape({2})[1].item<float>() * 4096 << std::endl;
  }
}

void futures() {
  init_process_group();
  const auto tensor = torch::full({2}, 1.0 + rank());
  Work work = all_reduce(tensor, ReduceOp::AVG, {}, true);
  const Future doubled = work.get_future().then([](const at::Tensor& each) { return each * 2; });
  std::cout << "average doubled: " << doubled.wait()[0].item<float>() << std::endl;
  work.wait();  // divides only once
  std::cout << "average: " << tensor[1].item<float>() << " " << doubled.done() << std::endl;
  Future failed;
  std::cout << "done: " << failed.done() << std::endl;
  const Future next = failed.then([](const at::Tensor& each) { return each; });
  failed.set_exception(std::make_exception_ptr(OwnError("no value")));
  try {
    next.wait();
  } catch (const OwnError& error) {
    std::cout << "OwnError: " << error.what() << std::endl;
  }
  const Future odd = doubled.then([](const at::Tensor&) -> at::Tensor { throw 7; });
  try {
    odd.wait();
  } catch (const std::runtime_error& error) {
    std::cout << "runtime_error: " << error.what() << std::endl;
  }
}

}  // namespace

Scenarios comm_hook_scenarios() {
  return {{"hook_sees_buckets", hook_sees_buckets},
          {"hook_returns_a_tensor", hook_returns_a_tensor},
          {"hook_is_completed_by_a_thread", hook_is_completed_by_a_thread},
          {"hook_throws", hook_throws},
          {"hook_fails_later", hook_fails_later},
          {"hook_never_completes", hook_never_completes},
          {"hook_returns_another_size", hook_returns_another_size},
          {"hook_returns_another_type", hook_returns_another_type},
          {"hook_returns_a_view", hook_returns_a_view},
          {"hook_returns_nothing", hook_returns_nothing},
          {"hook_registered_wrongly", hook_registered_wrongly},
          {"hook_after_forward", hook_after_forward},
          {"hook_for_sparse_gradients", hook_for_sparse_gradients},
          {"hook_precisions", hook_precisions},
          {"futures", futures}};
}

}  // namespace ddp::test
