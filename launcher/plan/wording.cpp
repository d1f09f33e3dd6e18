#include "launcher/plan/wording.h"

#include <set>
#include <utility>

namespace ddprun::plan {
namespace {

constexpr std::size_t kRanksInFull = 4;

std::string each_rank(const LaunchPlan& plan) {
  std::string text;
  for (const WorkerPlan& worker : plan.workers) {
    text += (text.empty() ? "rank " : ", rank ") + std::to_string(worker.rank) + " " +
            device_text(worker) + " (" + gpu_text(*worker.gpu) + ")";
  }
  return text;
}

std::string rank_range(const LaunchPlan& plan) {
  return "ranks " + std::to_string(plan.workers.front().rank) + "-" +
         std::to_string(plan.workers.back().rank);
}

// Workers share GPUs in turn, so the first ones name every device there is.
std::string all_ranks(const LaunchPlan& plan) {
  std::set<std::pair<int, std::string>> seen;
  std::vector<int> ordinals;
  std::vector<int> ids;
  for (const WorkerPlan& worker : plan.workers) {
    if (!seen.emplace(worker.gpu->index, worker.gpu->uuid).second) continue;
    ordinals.push_back(*worker.cuda_ordinal);
    ids.push_back(worker.gpu->index);
  }
  const bool shared = ordinals.size() < plan.workers.size();
  const bool own = plan.workers.front().visible_devices.has_value();
  return rank_range(plan) + " cuda:" + (own ? "0 each" : number_ranges(ordinals)) +
         (shared ? " in turn" : "") + (ids.size() == 1 ? " (GPU " : " (GPUs ") +
         number_ranges(ids) + ")";
}

}  // namespace

std::string number_ranges(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (end - i < 3) end = i + 1;
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]);
    if (end - i > 1) text += "-" + std::to_string(numbers[end - 1]);
    i = end;
  }
  return text;
}

std::string gpu_text(const devices::Gpu& gpu) {
  const std::string part = gpu.uuid.starts_with("MIG-") ? ", " + gpu.uuid : "";
  return "GPU " + std::to_string(gpu.index) + part;
}

std::string count_text(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string device_text(const WorkerPlan& worker) {
  return worker.cuda_ordinal ? "cuda:" + std::to_string(*worker.cuda_ordinal) : "cpu";
}

std::string start_line(const LaunchPlan& plan, const std::string& reason) {
  const bool on_gpus = plan.workers.front().gpu.has_value();
  std::string where = "CPU";
  if (on_gpus) where = plan.workers.size() <= kRanksInFull ? each_rank(plan) : all_ranks(plan);
  return "ddprun: " + count_text(plan.workers.size(), "worker") + " on " + plan.host + reason +
         (on_gpus && plan.simulated_gpus ? " (simulated GPUs)" : "") + ": " + where;
}

}  // namespace ddprun::plan
