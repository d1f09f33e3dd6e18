// What the driver said, as text that one process can hand to another.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "launcher/devices/devices.h"

namespace ddprun::doctor {

// Pure, and each other's inverse. `read_gpu_records` gives none where the text was cut.
std::string gpu_records(const devices::NodeGpus& gpus);
std::optional<devices::NodeGpus> read_gpu_records(std::string_view text);

}  // namespace ddprun::doctor
