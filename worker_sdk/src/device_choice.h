// Decides from the environment which device a worker uses. No LibTorch, no GPU is touched.
#pragma once

#include <functional>
#include <string>

#include "worker_sdk/src/worker_environment.h"

namespace ddp::detail {

struct DeviceChoice {
  bool cuda = false;       // else the CPU
  bool simulated = false;  // the CPU, standing for cuda:ordinal
  int ordinal = -1;    // index among the visible GPUs; -1 where there is neither GPU nor simulation
  std::string gpu_id;  // entry `ordinal` of CUDA_VISIBLE_DEVICES, or the ordinal
};

// How many GPUs this process can use, and what there is to say about it: why they are none although
// the driver shows some, or that they are simulated. Empty: nothing.
struct UsableGpus {
  int count = 0;
  std::string remark;
};

// DDPRUN_DEVICE, else cuda:LOCAL_RANK where there are GPUs, else the CPU; with
// DDPRUN_SIMULATED_GPUS=N a simulated one of the first N, or of those of them that
// CUDA_VISIBLE_DEVICES shows. `usable_gpus` is asked only if the answer depends on it. Throws
// ddp::Error if the device named does not exist, and on variables that are no device or no number.
DeviceChoice choose_device(const Lookup& lookup, const std::function<UsableGpus()>& usable_gpus);

// "cuda:1 does not exist, 1 GPU is usable", with the visible ones and the remark where there are
// any. Empty if it does exist.
std::string why_unusable(const Lookup& lookup, int ordinal, const UsableGpus& gpus);

// "cpu", "cuda:0 (GPU 1)", "cpu (simulates cuda:0, GPU 1)".
std::string describe(const DeviceChoice& choice);

// GPUs that the driver shows this process, 0 without a driver. Loads libcuda.so.1 if it is there.
int visible_gpu_count();

}  // namespace ddp::detail
