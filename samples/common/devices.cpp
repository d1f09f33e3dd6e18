#include "samples/common/devices.h"

#include <ddp/device.h>
#include <stdlib.h>
#include <torch/torch.h>

namespace samples {
namespace {

constexpr const char* kDevice = "DDPRUN_DEVICE";

// 0: no simulation.
int simulated_gpus() {
  const char* count = getenv("DDPRUN_SIMULATED_GPUS");
  return count ? atoi(count) : 0;
}

}  // namespace

std::vector<c10::Device> worker_devices(int count) {
  const bool gpus =
      ddp::local_device().is_cuda() && static_cast<int>(torch::cuda::device_count()) >= count;
  std::vector<c10::Device> devices;
  for (int i = 0; i < count; ++i) {
    devices.push_back(gpus ? c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(i))
                           : c10::Device(c10::kCPU));
  }
  return devices;
}

std::string device_kind(int count) {
  return worker_devices(count)[0].is_cuda() ? "GPU" : "CPU";
}

SpawnedDevices::SpawnedDevices(int count) {
  if (worker_devices(count)[0].is_cuda() || simulated_gpus() >= count) return;
  if (const char* device = getenv(kDevice)) before_ = device;
  setenv(kDevice, "cpu", 1);
  changed_ = true;
}

SpawnedDevices::~SpawnedDevices() {
  if (!changed_) return;
  if (before_) {
    setenv(kDevice, before_->c_str(), 1);
  } else {
    unsetenv(kDevice);
  }
}

}  // namespace samples
