// Shorthands for tests of plans: a command line and a node in, a plan or a refusal out.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "launcher/cli/parse.h"
#include "launcher/devices/discover.h"
#include "launcher/devices/visible.h"
#include "launcher/plan/make.h"

namespace ddprun::plan {

using Words = std::vector<std::string>;

inline cli::JobSpec job_of(const Words& words) {
  auto result = cli::parse(words, cli::Environment());
  if (const cli::Exit* exit = std::get_if<cli::Exit>(&result)) {
    ADD_FAILURE() << "refused: " << exit->err;
    return {};
  }
  return std::get<cli::JobSpec>(result);
}

inline Node a_node() {
  return {"gpu07", 16, true, "python3"};
}

// A node whose driver has `count` GPUs.
inline devices::NodeGpus gpus(int count) {
  devices::NodeGpus node = devices::simulate(count);
  node.source = count > 0 ? devices::Source::nvml : devices::Source::none;
  node.remark = count > 0 ? "" : "no NVIDIA driver";
  for (devices::Gpu& gpu : node.gpus) {
    gpu.name = "NVIDIA H200";
    gpu.uuid = "GPU-a" + std::to_string(gpu.index);
    gpu.pci_address = "0000:1" + std::to_string(gpu.index) + ":00.0";
  }
  return node;
}

inline Result<LaunchPlan> make_with(const Words& words, const devices::NodeGpus& node_gpus,
                                    const std::optional<std::string>& list = std::nullopt,
                                    const Node& node = a_node()) {
  return make(job_of(words), node_gpus, devices::visible(list, node_gpus), node);
}

// The plan; a failure of the test and an empty one if it was refused.
inline LaunchPlan plan_of(const Words& words, const devices::NodeGpus& node_gpus,
                          const std::optional<std::string>& list = std::nullopt,
                          const Node& node = a_node()) {
  const Result<LaunchPlan> plan = make_with(words, node_gpus, list, node);
  if (!plan) {
    ADD_FAILURE() << "refused: " << plan.error().text;
    return {};
  }
  return *plan;
}

// The plan with --virtual-local-rank.
inline LaunchPlan virtual_plan_of(const Words& words, const devices::NodeGpus& node_gpus,
                                  const std::optional<std::string>& list = std::nullopt) {
  cli::JobSpec job = job_of(words);
  job.virtual_local_rank = true;
  const auto seen = devices::visible(list, node_gpus, devices::DeviceOrder::fastest_first,
                                     devices::ListFor::one_entry_each);
  const Result<LaunchPlan> plan = make(job, node_gpus, seen, a_node());
  if (plan) return *plan;
  ADD_FAILURE() << "refused: " << plan.error().text;
  return {};
}

// Why the plan was refused; "" if it was not.
inline std::string refusal_of(const Words& words, const devices::NodeGpus& node_gpus,
                              const std::optional<std::string>& list = std::nullopt) {
  const Result<LaunchPlan> plan = make_with(words, node_gpus, list);
  return plan ? "" : plan.error().text;
}

// The GPU of each rank; -1 on the CPU.
inline std::vector<int> gpu_ids(const LaunchPlan& plan) {
  std::vector<int> ids;
  for (const WorkerPlan& worker : plan.workers) ids.push_back(worker.gpu ? worker.gpu->index : -1);
  return ids;
}

// K of each rank's cuda:K; -1 on the CPU.
inline std::vector<int> ordinals(const LaunchPlan& plan) {
  std::vector<int> result;
  for (const WorkerPlan& worker : plan.workers) result.push_back(worker.cuda_ordinal.value_or(-1));
  return result;
}

}  // namespace ddprun::plan
