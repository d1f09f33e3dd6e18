// Finds out which PyTorch, NCCL and driver this machine has.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "launcher/cli/environment.h"
#include "launcher/doctor/facts.h"
#include "launcher/doctor/question.h"

namespace ddprun::doctor {

// Asks the Python at `path` for its PyTorch without importing that, which would take seconds.
Question ask_torch(const std::string& path);
// Pure. The answer: lines of a name, a tab and a value.
Torch read_torch(std::string_view answer);

// LibTorch in the folder of Torch_ROOT or in one of LD_LIBRARY_PATH.
Torch libtorch_alone(const cli::Environment& environment);

// Asks libnccl.so.2, as the dynamic linker finds it; the answer is its version, or empty.
Question ask_nccl();
// Pure. "2.28.9" for 22809, as NCCL counts.
std::string nccl_version(int number);

// Pure. "580.65.06" of the text of /proc/driver/nvidia/version; empty where there is none.
std::string driver_version(std::string_view text);

// "glibc 2.36".
std::string libc();

}  // namespace ddprun::doctor
