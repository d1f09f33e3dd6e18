// Ranks and devices in words.
#pragma once

#include <string>
#include <vector>

#include "launcher/plan/launch_plan.h"

namespace ddprun::plan {

// "0-3, 7, 8": three or more numbers that follow each other become a range.
std::string number_ranges(const std::vector<int>& numbers);

// "GPU 1", or "GPU 1, MIG-…" for a part of one.
std::string gpu_text(const devices::Gpu& gpu);

// "1 worker", "2 workers".
std::string count_text(std::size_t count, const std::string& noun);

// "cuda:1" or "cpu", as in DDPRUN_DEVICE.
std::string device_text(const WorkerPlan& worker);

// One line about the workers and their devices, with "ddprun: " and without newline. `reason` says
// where the number of workers comes from, empty when it was asked for.
std::string start_line(const LaunchPlan& plan, const std::string& reason);

}  // namespace ddprun::plan
