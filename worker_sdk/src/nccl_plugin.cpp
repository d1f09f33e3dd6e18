#include "worker_sdk/src/nccl_plugin.h"

#include <c10/cuda/CUDAFunctions.h>
#include <torch/csrc/cuda/nccl.h>

#include <cstdio>
#include <exception>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

c10d::Backend* ddp_nccl_make_backend(c10d::Store* store, int rank, int size, int device,
                                     std::int64_t timeout_ms, const char* group_name, char* reason,
                                     std::size_t reason_size) {
  try {
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = std::chrono::milliseconds(timeout_ms);
    options->group_name = group_name;
    auto backend = c10::make_intrusive<c10d::ProcessGroupNCCL>(
        c10::intrusive_ptr<c10d::Store>::reclaim_copy(store), rank, size, options);
    if (device >= 0) {
      const auto index = static_cast<c10::DeviceIndex>(device);
      c10::cuda::set_device(index);
      backend->setBoundDeviceId(c10::Device(c10::DeviceType::CUDA, index));
      backend->eagerConnectSingleDevice(c10::Device(c10::DeviceType::CUDA, index));
    }
    return backend.release();
  } catch (const std::exception& error) {
    std::snprintf(reason, reason_size, "%s", error.what());
    return nullptr;
  }
}

void ddp_nccl_shut_down(c10d::Backend* backend) {
  static_cast<c10d::ProcessGroupNCCL*>(backend)->shutdown();
}

int ddp_nccl_header_version() {
  return NCCL_VERSION_CODE;
}

int ddp_nccl_loaded_version() {
  const std::uint64_t version = torch::cuda::nccl::version();
  const int major = static_cast<int>(version >> 32),
            minor = static_cast<int>(version >> 16 & 0xffff);
  return major * 10000 + minor * 100 + static_cast<int>(version & 0xffff);
}
