// Who computes on a GPU already.
#pragma once

#include <string>
#include <vector>

#include "launcher/devices/devices.h"
#include "launcher/devices/nvml.h"

namespace ddprun::devices {

// The processes that the driver names for `device`, the one with most memory first, without this
// process and those that it descends from. Empty where the driver does not answer.
std::vector<GpuProcess> processes_on(const Nvml& nvml, Nvml::Device device);

// "GPU 3 is busy: pid 4711 (python3 train.py, user ann) holds 70.0 GiB"; "" where nobody is.
std::string busy_text(const Gpu& gpu);

}  // namespace ddprun::devices
