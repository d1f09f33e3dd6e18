// Stands for libddp_nccl.so and the libtorch_cuda behind it, on a machine without a GPU. As the
// real one it registers CUDA with LibTorch when it is loaded. STAND_IN_GPUS (1) and STAND_IN_NCCL
// (22809) are what it says of the machine; it makes no backend.
#include "worker_sdk/src/nccl_plugin.h"

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/FakeGuardImpl.h>

#include <cstdio>
#include <cstdlib>

namespace {

int variable(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

int gpus() {
  return variable("STAND_IN_GPUS", 1);
}

// The registry asks for it by this name.
class CUDAHooks : public at::CUDAHooksInterface {
 public:
  explicit CUDAHooks(at::CUDAHooksArgs) {}
  void init() const override {}
  bool hasCUDA() const override { return gpus() > 0; }
};

}  // namespace

namespace at {
REGISTER_CUDA_HOOKS(CUDAHooks)
}  // namespace at
C10_REGISTER_GUARD_IMPL(CUDA, c10::impl::FakeGuardImpl<c10::DeviceType::CUDA>)

int ddp_cuda_device_count(char* reason, std::size_t reason_size) {
  std::snprintf(reason, reason_size, "the stand-in's driver is too old");
  return gpus();
}

c10d::Backend* ddp_nccl_make_backend(c10d::Store*, int rank, int size, int, std::int64_t,
                                     const char* group_name, char* reason,
                                     std::size_t reason_size) {
  std::snprintf(reason, reason_size, "the stand-in has no communicator for %d of %d in group %s",
                rank, size, group_name);
  return nullptr;
}

void ddp_nccl_shut_down(c10d::Backend*) {}

int ddp_nccl_header_version() {
  return 22809;
}

int ddp_nccl_loaded_version() {
  return variable("STAND_IN_NCCL", 22809);
}
