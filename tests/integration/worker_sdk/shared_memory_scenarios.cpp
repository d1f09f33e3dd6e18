// Sums through shared memory and through sockets, which must not differ.
#include <signal.h>
#include <torch/torch.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <thread>

#include "ddp/ddp.h"
#include "tests/integration/worker_sdk/scenarios.h"

namespace ddp::test {
namespace {

// As the kernel lists it, however it is called in the file system.
bool has_shared_memory() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("ddp-all-reduce") != std::string::npos) return true;
  }
  return false;
}

// Of all bits.
std::uint64_t fingerprint(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.detach().contiguous();
  std::uint64_t hash = 1469598103934665603ull;
  const auto* byte = static_cast<const unsigned char*>(flat.data_ptr());
  for (std::size_t i = 0; i < flat.nbytes(); ++i) hash = (hash ^ byte[i]) * 1099511628211ull;
  return hash;
}

void print(const std::string& name, const at::Tensor& tensor) {
  std::printf("%s: %016" PRIx64 "\n", name.c_str(), fingerprint(tensor));
}

void join_as_told() {
  init_process_group({.shared_memory = wants_shared_memory()});
  std::cout << (has_shared_memory() ? "shared memory" : "sockets") << std::endl;
}

at::Tensor random_tensor(at::IntArrayRef size, at::ScalarType type) {
  torch::manual_seed(7 + rank());
  return torch::randn(size, at::TensorOptions().dtype(type));
}

void sums() {
  join_as_told();
  for (const int64_t size : {0, 1, 3, 1000, 262'145, 700'001}) {
    for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16}) {
      const at::Tensor tensor = random_tensor({size}, type);
      all_reduce(tensor);
      print(std::string(c10::toString(type)) + " " + std::to_string(size), tensor);
    }
  }
  const at::Tensor most = random_tensor({50}, at::kFloat);
  all_reduce(most, ReduceOp::MAX);
  print("largest", most);
  destroy_process_group();
}

struct NetImpl : torch::nn::Module {
  at::Tensor forward(const at::Tensor& x) { return last(torch::relu(norm(torch::relu(first(x))))); }
  torch::nn::Linear first = register_module("first", torch::nn::Linear(20, 700));
  torch::nn::BatchNorm1d norm = register_module("norm", torch::nn::BatchNorm1d(700));
  torch::nn::Linear last = register_module("last", torch::nn::Linear(700, 600));
};
TORCH_MODULE(Net);

// Two buckets.
void training() {
  join_as_told();
  torch::manual_seed(1);
  DistributedDataParallel<Net> model(Net{}, {.bucket_cap_mb = 1});
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  for (int step = 0; step < 5; ++step) {
    const at::Tensor x = random_tensor({8, 20}, at::kFloat);
    optimizer.zero_grad();
    model(x).square().mean().backward();
    optimizer.step();
  }
  for (const auto& parameter : model->named_parameters()) {
    print(parameter.key(), parameter.value());
  }
  destroy_process_group();
}

// In Gloo an all_reduce that is not waited for holds up nobody, in whatever order.
void crossed() {
  join_as_told();
  const at::Tensor sum = torch::full({3}, 1.0f + static_cast<float>(rank()));
  const at::Tensor word = torch::full({1}, 5.0f);
  if (rank() == 0) {
    Work work = all_reduce(sum, ReduceOp::SUM, {}, true);
    send(word, 1);
    work.wait();
  } else {
    const at::Tensor heard = torch::zeros({1});
    recv(heard, 0);
    Work work = all_reduce(sum, ReduceOp::SUM, {}, true);
    work.wait();
    std::cout << "heard " << heard.item<float>() << std::endl;
  }
  std::cout << "sum " << sum[2].item<float>() << std::endl;
  destroy_process_group();
}

void sub_group() {
  join_as_told();
  const ProcessGroup outer = new_group({0, 2});
  const at::Tensor tensor = torch::full({2}, 1.0f + static_cast<float>(rank()));
  all_reduce(tensor, ReduceOp::SUM, outer);
  std::cout << "outer " << tensor[0].item<float>() << std::endl;
  all_reduce(tensor);
  std::cout << "all " << tensor[0].item<float>() << std::endl;
  destroy_process_group();
}

void different_sizes() {
  join_as_told();
  const at::Tensor tensor = torch::ones({3 + rank()});
  all_reduce(tensor);
}

// And lives on, so that nothing but its leaving can be noticed.
void leaves_early() {
  join_as_told();
  const at::Tensor pid = torch::tensor({static_cast<int64_t>(::getpid())});
  broadcast(pid, 0);
  if (rank() == 0) all_reduce(torch::ones({3}));
  destroy_process_group();
  while (::kill(static_cast<pid_t>(pid[0].item<int64_t>()), 0) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

bool wants_shared_memory() {
  const char* list = std::getenv("DDP_TEST_SHARED_MEMORY");
  const char* rank = std::getenv("RANK");
  return list != nullptr && rank != nullptr && std::strstr(list, rank) != nullptr;
}

Scenarios shared_memory_scenarios() {
  return {{"shared_sums", sums},
          {"shared_training", training},
          {"shared_crossed", crossed},
          {"shared_sub_group", sub_group},
          {"shared_sizes", different_sizes},
          {"shared_left", leaves_early}};
}

}  // namespace ddp::test
