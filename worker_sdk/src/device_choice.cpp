#include "worker_sdk/src/device_choice.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <vector>

#include "ddp/error.h"

namespace ddp::detail {
namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> visible_devices(const Lookup& lookup) {
  std::istringstream list(lookup("CUDA_VISIBLE_DEVICES").value_or(""));
  std::vector<std::string> entries;
  for (std::string entry; std::getline(list, entry, ',');) entries.push_back(trimmed(entry));
  return entries;
}

std::string gpu_id_of(const Lookup& lookup, int ordinal) {
  const auto entries = visible_devices(lookup);
  const auto index = static_cast<std::size_t>(ordinal);
  return index < entries.size() ? entries[index] : std::to_string(ordinal);
}

// The K of "cuda:K"; LOCAL_RANK for plain "cuda"; -1 for "cpu".
int named_ordinal(const Lookup& lookup, const std::string& device, int local_rank) {
  if (device == "cpu") return -1;
  if (device == "cuda") return local_rank;
  const std::string prefix = "cuda:";
  int ordinal = -1;
  if (device.starts_with(prefix)) {
    const char* end = device.data() + device.size();
    const auto [rest, error] = std::from_chars(device.data() + prefix.size(), end, ordinal);
    if (error == std::errc{} && rest == end && ordinal >= 0) return ordinal;
  }
  throw Error(rank_if_known(lookup),
              "DDPRUN_DEVICE=" + device + " is not a device; expected cpu or cuda:K");
}

// 0: no simulation.
int simulated_gpus(const Lookup& lookup) {
  const int count = integer_variable(lookup, "DDPRUN_SIMULATED_GPUS", 0);
  if (count >= 0) return count;
  throw Error(rank_if_known(lookup), "DDPRUN_SIMULATED_GPUS=" + std::to_string(count) +
                                         " is not a number of GPUs; 0 means no simulation");
}

// Of `count` simulated GPUs those that the list shows; all without a list.
int visible_among(const Lookup& lookup, int count) {
  if (!lookup("CUDA_VISIBLE_DEVICES")) return count;
  return std::min(count, static_cast<int>(visible_devices(lookup).size()));
}

[[noreturn]] void refuse(const Lookup& lookup, const std::string& why) {
  throw Error(rank_if_known(lookup),
              "local_device: " + why +
                  ". Start at most as many processes on this node as it has GPUs, or use the CPU "
                  "with DDPRUN_DEVICE=cpu.");
}

}  // namespace

DeviceChoice choose_device(const Lookup& lookup, const std::function<UsableGpus()>& usable_gpus) {
  const int local_rank = integer_variable(lookup, "LOCAL_RANK", 0);
  if (local_rank < 0)
    throw Error(rank_if_known(lookup),
                "LOCAL_RANK=" + std::to_string(local_rank) + " is not a rank");
  const std::string named = lookup("DDPRUN_DEVICE").value_or("");
  const int ordinal = named.empty() ? local_rank : named_ordinal(lookup, named, local_rank);
  if (ordinal < 0) return {};
  const int simulated = simulated_gpus(lookup);
  const UsableGpus gpus = simulated == 0
                              ? usable_gpus()
                              : UsableGpus{visible_among(lookup, simulated),
                                           "DDPRUN_SIMULATED_GPUS=" + std::to_string(simulated)};
  if (named.empty() && gpus.count == 0) return {};
  if (const std::string why = why_unusable(lookup, ordinal, gpus); !why.empty())
    refuse(lookup, why);
  return {.cuda = simulated == 0,
          .simulated = simulated > 0,
          .ordinal = ordinal,
          .gpu_id = gpu_id_of(lookup, ordinal)};
}

std::string why_unusable(const Lookup& lookup, int ordinal, const UsableGpus& gpus) {
  if (ordinal < gpus.count) return "";
  const std::string list = lookup("CUDA_VISIBLE_DEVICES").value_or("");
  const std::string count = gpus.count == 0   ? "no GPU is"
                            : gpus.count == 1 ? "1 GPU is"
                                              : std::to_string(gpus.count) + " GPUs are";
  std::string text = "cuda:" + std::to_string(ordinal) + " does not exist, " + count + " usable";
  if (!list.empty()) text += " (CUDA_VISIBLE_DEVICES=" + list + ")";
  if (!gpus.remark.empty()) text += ": " + gpus.remark;
  return text;
}

std::string describe(const DeviceChoice& choice) {
  if (choice.ordinal < 0) return "cpu";
  const std::string cuda = "cuda:" + std::to_string(choice.ordinal);
  if (choice.simulated) return "cpu (simulates " + cuda + ", GPU " + choice.gpu_id + ")";
  return cuda + " (GPU " + choice.gpu_id + ")";
}

int visible_gpu_count() {
  // The driver's library is kept open: closing it after cuInit is not supported.
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver) return 0;
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto get_count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int count = 0;
  if (!init || !get_count || init(0) != 0 || get_count(&count) != 0) return 0;
  return count;
}

}  // namespace ddp::detail
