// Which device this worker computes on.
#pragma once

#include <c10/core/Device.h>

#include <string>

#include "ddp/export.h"

namespace ddp {

// The device of this worker: the one in DDPRUN_DEVICE, else cuda:LOCAL_RANK where there are GPUs,
// else the CPU. With DDPRUN_SIMULATED_GPUS=N always the CPU, standing for one of N GPUs (0 or
// nothing: no simulation). A CUDA device is also made the current one of the calling thread. Throws
// ddp::Error if the environment names a device that cannot be used, simulated ones included.
//
// The local rank is not the GPU id: cuda:0 is the first entry of CUDA_VISIBLE_DEVICES.
// PyTorch: torch.device("cuda", int(os.environ["LOCAL_RANK"])) and torch.cuda.set_device.
DDP_API c10::Device local_device();

// The GPU behind local_device(): the entry of CUDA_VISIBLE_DEVICES as it is written there ("1",
// "GPU-5f2c…"), or the ordinal if there is no list. With DDPRUN_SIMULATED_GPUS the GPU it would
// have been. Empty on a CPU.
DDP_API std::string gpu_id();

// local_device() for people: "cpu", "cuda:0 (GPU 1)", "cpu (simulates cuda:0, GPU 1)".
DDP_API std::string describe_device();

}  // namespace ddp
