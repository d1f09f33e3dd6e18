#include "launcher/plan/make.h"

#include <algorithm>

#include "launcher/cli/signal_list.h"
#include "launcher/devices/gpu_processes.h"
#include "launcher/plan/command.h"
#include "launcher/plan/place.h"
#include "launcher/plan/threads.h"
#include "launcher/plan/wording.h"
#include "launcher/plan/world.h"

namespace ddprun::plan {
namespace {

using cli::DeviceChoice;
using Count = cli::WorkerCount::Kind;

// Everything the decisions look at.
struct Question {
  const cli::JobSpec& job;
  const devices::NodeGpus& node_gpus;
  const devices::VisibleGpus& visible;
  const Node& node;
};

std::vector<int> ids_of(const devices::VisibleGpus& visible) {
  std::vector<int> ids;
  for (const devices::Gpu& gpu : visible.gpus) ids.push_back(gpu.index);
  return ids;
}

std::string total_text(const Question& q) {
  const bool simulated = q.node_gpus.source == devices::Source::simulated;
  return "the node has " + count_text(q.node_gpus.gpus.size(), simulated ? "simulated GPU" : "GPU");
}

// Why just these GPUs are visible. What is odd about the list has lines of its own.
std::string why_visible(const Question& q) {
  if (!q.visible.list_given)
    return "  why: " + total_text(q) + ", CUDA_VISIBLE_DEVICES is not set\n";
  std::string text =
      "  why: CUDA_VISIBLE_DEVICES='" + q.visible.list_text + "', " + total_text(q) + "\n";
  for (const std::string& warning : q.visible.warnings) text += "  " + warning + "\n";
  return text;
}

Error no_gpu(const Question& q, const std::string& asked) {
  if (q.node_gpus.gpus.empty()) {
    return Error{asked + ", but no GPU was found on " + q.node.host +
                 (q.node_gpus.remark.empty() ? "" : " (" + q.node_gpus.remark + ")")};
  }
  return Error{asked + ", but CUDA_VISIBLE_DEVICES='" + q.visible.list_text +
               "' hides every GPU of " + q.node.host + ", " + total_text(q)};
}

// The list was meant to show GPUs and shows none.
Error hidden_by_slip(const Question& q) {
  return Error{"no GPU is visible on " + q.node.host + "\n" + why_visible(q) +
               "  ways out: a list of numbers below " + std::to_string(q.node_gpus.gpus.size()) +
               " in CUDA_VISIBLE_DEVICES, or --device cpu (an empty list does the same)"};
}

Error too_many(const Question& q, int workers) {
  const std::size_t visible = q.visible.gpus.size();
  return Error{count_text(static_cast<std::size_t>(workers), "worker") + " asked for, but only " +
               count_text(visible, "GPU") + " visible on " + q.node.host + ": " +
               number_ranges(ids_of(q.visible)) + "\n" + why_visible(q) + "  ways out: -n " +
               std::to_string(visible) +
               (q.visible.list_given ? ", a longer list in CUDA_VISIBLE_DEVICES" : "") +
               ", --oversubscribe (workers share GPUs), or --device cpu"};
}

// Whether the workers get GPUs.
Result<bool> choose_gpus(const Question& q) {
  const bool count_is_gpus = q.job.workers.kind == Count::gpu;
  if (wants_cpu_only(q.job)) {
    if (count_is_gpus)
      return Error{
          "--nproc-per-node gpu and --device cpu contradict each other; write the number of "
          "workers"};
    return false;
  }
  if (!q.visible.gpus.empty()) return true;
  if (!q.node_gpus.gpus.empty() && !q.visible.hides_all) return hidden_by_slip(q);
  if (q.job.device == DeviceChoice::cuda) return no_gpu(q, "--device cuda was asked for");
  if (count_is_gpus) return no_gpu(q, "--nproc-per-node gpu was asked for");
  return false;
}

int count_workers(const Question& q, bool gpus) {
  const int visible = static_cast<int>(q.visible.gpus.size());
  switch (q.job.workers.kind) {
    case Count::number:
      return q.job.workers.number;
    case Count::automatic:
      return gpus ? visible : q.node.allowed_cpus;
    case Count::gpu:
      return visible;
    case Count::cpu:
      return q.node.allowed_cpus;
    case Count::unset:
      break;
  }
  return gpus ? visible : 1;
}

// Why it is this number, where nobody wrote it.
std::string reason_for_count(const Question& q, bool gpus) {
  if (q.job.workers.kind == Count::number) return "";
  if (q.job.workers.kind == Count::cpu || (q.job.workers.kind == Count::automatic && !gpus))
    return ", one for each CPU";
  if (gpus) return ", one for each visible GPU";
  return " (-n sets the number)";
}

// The list of a worker that sees one device only. On the CPU it is what torchrun gives: the entry
// with its local rank, without asking whether there is such a GPU.
std::string own_list(const Question& q, std::size_t local_rank, bool gpus) {
  const devices::VisibleGpus& visible = q.visible;
  if (gpus) return visible.entries[local_rank % visible.entries.size()];
  if (!visible.list_given) return std::to_string(local_rank);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < local_rank; ++i) {
    const std::size_t comma = visible.list_text.find(',', begin);
    if (comma == std::string::npos) return visible.list_text;
    begin = comma + 1;
  }
  return visible.list_text.substr(begin, visible.list_text.find(',', begin) - begin);
}

std::vector<WorkerPlan> make_workers(const Question& q, int count, bool gpus) {
  std::vector<WorkerPlan> workers;
  workers.reserve(static_cast<std::size_t>(count));
  for (int rank = 0; rank < count; ++rank) {
    WorkerPlan worker;
    worker.rank = worker.local_rank = rank;
    if (gpus) {
      const std::size_t ordinal = static_cast<std::size_t>(rank) % q.visible.gpus.size();
      worker.cuda_ordinal = static_cast<int>(ordinal);
      worker.gpu = q.visible.gpus[ordinal];
    }
    if (q.job.virtual_local_rank) {
      worker.visible_devices = own_list(q, static_cast<std::size_t>(rank), gpus);
      if (gpus) worker.cuda_ordinal = 0;
    }
    worker.wrapper = wrapper_of(q.job, rank);
    worker.argv = worker_command(q.job, q.node.python, rank);
    workers.push_back(std::move(worker));
  }
  return workers;
}

// Entries for local ranks that do not exist are no reason to refuse: one map may serve nodes of
// several sizes.
void add_idle_entries(const std::string& option, const cli::StreamMap& map, LaunchPlan& plan) {
  const int count = static_cast<int>(plan.workers.size());
  for (const auto& [ranks, streams] : map.ranges)
    if (ranks.first >= count)
      plan.notices.push_back(option + ": there is no local rank " + std::to_string(ranks.first) +
                             ", the last one is " + std::to_string(count - 1));
}

void add_hidden_output(const cli::JobSpec& job, LaunchPlan& plan) {
  if (!job.console_ranks) return;
  for (const WorkerPlan& worker : plan.workers)
    if (job.console_ranks->contains(worker.local_rank)) return;
  plan.notices.push_back("--local-ranks-filter: it has none of the local ranks, the last one is " +
                         std::to_string(plan.workers.size() - 1) + "; no output is shown");
}

// Remarks about devices concern nobody who asked for the CPU.
void add_notices(const Question& q, bool gpus, LaunchPlan& plan) {
  plan.notices = q.job.notices;
  plan.common_notices = plan.notices.size();
  add_idle_entries("--redirects", q.job.redirects, plan);
  add_idle_entries("--tee", q.job.tee, plan);
  add_hidden_output(q.job, plan);
  if (q.node_gpus.failed) plan.notices.push_back(q.node_gpus.remark);
  if (!gpus) return;
  plan.notices.insert(plan.notices.end(), q.visible.warnings.begin(), q.visible.warnings.end());
  // Workers share GPUs in turn, so the first ones name every GPU there is.
  const std::size_t used = std::min(plan.workers.size(), q.visible.gpus.size());
  for (std::size_t i = 0; i < used; ++i) {
    const std::string busy = devices::busy_text(*plan.workers[i].gpu);
    if (!busy.empty()) plan.notices.push_back(busy);
  }
}

}  // namespace

Result<LaunchPlan> make(const cli::JobSpec& job, const devices::NodeGpus& node_gpus,
                        const devices::VisibleGpus& visible, const Node& node) {
  const Question q{job, node_gpus, visible, node};
  const Result<bool> gpus = choose_gpus(q);
  if (!gpus) return gpus.error();
  const int count = count_workers(q, *gpus);
  if (*gpus && !job.oversubscribe && count > static_cast<int>(visible.gpus.size()))
    return too_many(q, count);
  // How many ranks several nodes have is known when they have met.
  if (!job.rendezvous.several_nodes())
    if (std::string wrong = wrong_rank(job, count); !wrong.empty()) return Error{std::move(wrong)};
  LaunchPlan plan;
  plan.host = node.host;
  plan.rendezvous = job.rendezvous;
  plan.workers = make_workers(q, count, *gpus);
  plan.world_size = count;
  plan.role = job.role;
  plan.max_restarts = job.max_restarts;
  plan.signals_to_handle = cli::signal_list_text(job.signals_to_handle);
  plan.reports_progress = job.progress_timeout.has_value();
  if (*gpus && node_gpus.source == devices::Source::simulated)
    plan.simulated_gpus = static_cast<int>(node_gpus.gpus.size());
  plan.start_line = start_line(plan, reason_for_count(q, *gpus));
  add_notices(q, *gpus, plan);
  bind_workers(job, node, plan);
  give_threads(job, node, plan);
  return plan;
}

LaunchPlan without_workers(const cli::JobSpec& job, const std::string& host) {
  LaunchPlan none;
  none.host = host;
  none.role = job.role;
  none.notices = job.notices;
  none.common_notices = none.notices.size();
  none.rendezvous = job.rendezvous;
  return none;
}

}  // namespace ddprun::plan
