#include "ddp/device.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <cstdio>

#include "worker_sdk/src/cuda_plugin.h"

namespace ddp {
namespace {

// Asked once: the answer costs a driver call, and must not change within a process.
const detail::UsableGpus& usable_gpus_once() {
  static const detail::UsableGpus gpus = [] {
    detail::UsableGpus found = detail::usable_gpus();
    if (!found.remark.empty()) {
      std::fprintf(stderr, "ddp: the GPUs of this node are not used: %s\n", found.remark.c_str());
    }
    return found;
  }();
  return gpus;
}

detail::DeviceChoice choice() {
  return detail::choose_device(detail::process_environment(), usable_gpus_once);
}

}  // namespace

c10::Device local_device() {
  const detail::DeviceChoice chosen = choice();
  if (!chosen.cuda) return c10::Device(c10::DeviceType::CPU);
  const c10::Device device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(chosen.ordinal));
  c10::impl::getDeviceGuardImpl(device.type())->setDevice(device);
  return device;
}

std::string gpu_id() {
  return choice().gpu_id;
}

std::string describe_device() {
  return detail::describe(choice());
}

}  // namespace ddp
