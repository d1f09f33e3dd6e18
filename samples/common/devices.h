// The devices on which one process computes with several workers.
#pragma once

#include <c10/core/Device.h>

#include <vector>

namespace samples {

// cuda:0 to cuda:count-1 where there are so many GPUs, else the CPU `count` times; with
// DDPRUN_DEVICE=cpu always that. Call it before anything else of LibTorch, which otherwise does not
// find the GPUs.
std::vector<c10::Device> worker_devices(int count);

}  // namespace samples
