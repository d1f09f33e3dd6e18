// Backend nccl on machines that are not ready for it, and the CPU without CUDA.
#include <torch/torch.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <string>

#include "ddp/ddp.h"
#include "tests/integration/worker_sdk/scenarios.h"

namespace ddp::test {
namespace {

void nccl() {
  init_process_group({.backend = "nccl"});
}

void nccl_after_torch() {
  torch::manual_seed(1);  // LibTorch asks for CUDA
  init_process_group({.backend = "nccl"});
}

void device_without_a_backend() {
  std::printf("%s\n", local_device().str().c_str());
}

bool belongs_to_cuda(const std::string& path) {
  // libtorch_cpu itself is linked with libcudart and libcupti.
  for (const char* name : {"libcuda.so", "libtorch_cuda", "libc10_cuda", "libnccl", "libcublas",
                           "libcudnn", "libddp_nccl"}) {
    if (path.find(std::string("/") + name) != std::string::npos) return true;
  }
  return false;
}

void cuda_libraries() {
  init_process_group();
  DistributedDataParallel<torch::nn::Linear> model(torch::nn::Linear(2, 2),
                                                   {.device = local_device()});
  model->forward(torch::ones({1, 2})).sum().backward();
  destroy_process_group();
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> found;
  int libraries = 0;
  for (std::string line; std::getline(maps, line);) {
    const auto path = line.find('/');
    if (path == std::string::npos) continue;
    if (line.find("/libtorch_cpu.so") != std::string::npos) ++libraries;
    if (belongs_to_cuda(line)) found.insert(line.substr(path));
  }
  std::printf("libtorch_cpu: %d\n", libraries > 0);
  for (const std::string& path : found) std::printf("%s\n", path.c_str());
}

}  // namespace

Scenarios cuda_scenarios() {
  return {{"cuda_libraries", cuda_libraries},
          {"device_without_a_backend", device_without_a_backend},
          {"nccl", nccl},
          {"nccl_after_torch", nccl_after_torch}};
}

}  // namespace ddp::test
