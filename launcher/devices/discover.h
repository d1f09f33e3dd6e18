// Asks the NVIDIA driver which GPUs this node has.
#pragma once

#include <string>

#include "launcher/devices/devices.h"

namespace ddprun::devices {

// The driver's management library, as the dynamic linker finds it. DDPRUN_NVML names another file.
inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

// Loads `library`, asks it and unloads it again: some milliseconds where there is a driver, far
// less than one where there is none. Never fails: a node without driver or GPU is a normal answer,
// with the reason in `remark`. A GPU that does not answer is left out and named there.
NodeGpus discover(const std::string& library = kNvmlLibrary);

// GPUs 0 to `count` - 1, as --simulate-gpus wants them. Loads nothing.
NodeGpus simulate(int count);

}  // namespace ddprun::devices
