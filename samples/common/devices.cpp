#include "samples/common/devices.h"

#include <ddp/device.h>
#include <torch/torch.h>

namespace samples {

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

}  // namespace samples
