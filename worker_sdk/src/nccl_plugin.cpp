#include "worker_sdk/src/nccl_plugin.h"

#include <c10/cuda/CUDAFunctions.h>
#include <torch/csrc/cuda/nccl.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#if __has_include(<torch/csrc/distributed/c10d/nccl2/ProcessGroupNCCL.hpp>)
#include <torch/csrc/distributed/c10d/nccl2/ProcessGroupNCCL.hpp>
#define DDP_HAS_NCCL2
#endif

namespace {

using Options = c10d::ProcessGroupNCCL::Options;
using StorePtr = c10::intrusive_ptr<c10d::Store>;
using BackendPtr = c10::intrusive_ptr<c10d::Backend>;

c10::Device gpu(int index) {
  return {c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(index)};
}

BackendPtr make_nccl(const StorePtr& store, int rank, int size, int device,
                     const c10::intrusive_ptr<Options>& options) {
  auto backend = c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, size, options);
  if (device >= 0) {
    backend->setBoundDeviceId(gpu(device));
    backend->eagerConnectSingleDevice(gpu(device));
  }
  return backend;
}

#ifdef DDP_HAS_NCCL2
// The communicator is made when the device is bound, and that cannot be put off.
BackendPtr make_nccl2(const StorePtr& store, int rank, int size, int device,
                      const c10::intrusive_ptr<Options>& options) {
  auto backend = c10::make_intrusive<c10d::nccl2::ProcessGroupNCCL>(store, rank, size, options);
  backend->setBoundDeviceId(gpu(device >= 0 ? device : c10::cuda::current_device()));
  return backend;
}
#endif

BackendPtr make_default(const StorePtr& store, int rank, int size, int device,
                        const c10::intrusive_ptr<Options>& options) {
#ifdef DDP_HAS_NCCL2
  const char* chosen = std::getenv("TORCH_DIST_USE_NCCL2");
  if (!chosen || std::strcmp(chosen, "0") != 0) {
    return make_nccl2(store, rank, size, device, options);
  }
#endif
  return make_nccl(store, rank, size, device, options);
}

// Inside a catch block. The first line: where LibTorch's exceptions carry a stack, it follows.
void copy_reason(char* reason, std::size_t size) {
  try {
    throw;
  } catch (const std::exception& error) {
    const std::string text = error.what();
    std::snprintf(reason, size, "%s", text.substr(0, text.find('\n')).c_str());
  }
}

}  // namespace

int ddp_cuda_device_count(char* reason, std::size_t reason_size) {
  try {
    return c10::cuda::device_count_ensure_non_zero();
  } catch (const std::exception&) {
    copy_reason(reason, reason_size);
    return 0;
  }
}

c10d::Backend* ddp_nccl_make_backend(c10d::Store* store, int rank, int size, int device,
                                     std::int64_t timeout_ms, const char* group_name, char* reason,
                                     std::size_t reason_size) {
  try {
    auto options = Options::create();
    options->timeout = std::chrono::milliseconds(timeout_ms);
    options->group_name = group_name;
    if (device >= 0) c10::cuda::set_device(static_cast<c10::DeviceIndex>(device));
    return make_default(StorePtr::reclaim_copy(store), rank, size, device, options).release();
  } catch (const std::exception&) {
    copy_reason(reason, reason_size);
    return nullptr;
  }
}

void ddp_nccl_shut_down(c10d::Backend* backend) {
  backend->shutdown();
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
