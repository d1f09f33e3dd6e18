// CUDA and NCCL, loaded when they are asked for: one program runs with and without GPUs.
//
// libddp itself is built without CUDA. What needs its headers is libddp_nccl.so (nccl_plugin.cpp),
// found beside libddp.so; loading it brings libtorch_cuda into the process.
#pragma once

#include <c10/core/Device.h>

#include <chrono>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "worker_sdk/src/device_choice.h"

namespace ddp::detail {

// Loads the plug-in at the first call. Empty if CUDA can be used now, else why not.
std::string load_cuda();

// The GPUs that this process can compute on. Loads the plug-in if the driver shows any.
UsableGpus usable_gpus();

// Throws std::runtime_error if CUDA or NCCL cannot be used.
c10::intrusive_ptr<c10d::Backend> make_nccl_backend(const c10::intrusive_ptr<c10d::Store>& store,
                                                    int rank, int size,
                                                    const std::optional<c10::Device>& device_id,
                                                    std::chrono::milliseconds timeout,
                                                    const std::string& group_name);

// Must be called before the last reference to the backend goes: its destructor aborts otherwise.
void shut_down_nccl_backend(const c10::intrusive_ptr<c10d::Backend>& backend);

}  // namespace ddp::detail
