#include "worker_sdk/src/spawn_environment.h"

#include <algorithm>
#include <string_view>

#include "worker_sdk/src/spawn_order.h"

namespace ddp::detail {
namespace {

bool from_a_launcher(std::string_view entry) {
  // The wish for the CPU and simulated GPUs hold for every process. A GPU does not: it is the
  // parent's.
  if (entry == "DDPRUN_DEVICE=cpu" || entry.starts_with("DDPRUN_SIMULATED_GPUS=")) return false;
  for (const std::string_view name :
       {"RANK=", "WORLD_SIZE=", "LOCAL_RANK=", "LOCAL_WORLD_SIZE=", "GROUP_RANK=",
        "GROUP_WORLD_SIZE=", "ROLE_RANK=", "ROLE_WORLD_SIZE=", "ROLE_NAME=", "MASTER_ADDR=",
        "MASTER_PORT=", "TORCHELASTIC_", "DDPRUN_DEVICE=", "DDPRUN_PROGRESS_FD="}) {
    if (entry.starts_with(name)) return true;
  }
  return entry.starts_with(std::string(kSpawnVariable) + "=");
}

}  // namespace

std::vector<std::string> spawn_environment(const std::vector<std::string>& inherited,
                                           const SpawnPlace& place) {
  std::vector<std::string> all;
  std::ranges::copy_if(inherited, std::back_inserter(all),
                       [](const std::string& entry) { return !from_a_launcher(entry); });
  const auto add = [&](const std::string& name, auto value) {
    all.push_back(name + "=" + std::to_string(value));
  };
  add("RANK", place.rank);
  add("LOCAL_RANK", place.rank);
  add("WORLD_SIZE", place.world_size);
  add("LOCAL_WORLD_SIZE", place.world_size);
  add("GROUP_RANK", 0);
  add("MASTER_PORT", place.port);
  all.push_back("MASTER_ADDR=127.0.0.1");
  all.push_back("TORCHELASTIC_USE_AGENT_STORE=True");
  const bool threads_set = std::ranges::any_of(
      inherited, [](const auto& entry) { return entry.starts_with("OMP_NUM_THREADS="); });
  if (!threads_set) add("OMP_NUM_THREADS", std::max(1, place.cpus / place.world_size));
  return all;
}

}  // namespace ddp::detail
