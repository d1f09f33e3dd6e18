#include "launcher/plan/worker_environment.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "launcher/cli/version.h"
#include "launcher/plan/wording.h"

namespace ddprun::plan {
namespace {

constexpr std::array<std::string_view, 11> kRankVariables{
    "RANK",       "LOCAL_RANK", "GROUP_RANK",       "ROLE_RANK",        "ROLE_WORLD_SIZE",
    "ROLE_NAME",  "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_WORLD_SIZE", "MASTER_ADDR",
    "MASTER_PORT"};

bool belongs_to_another_job(std::string_view name) {
  // The prefix of lines is the user's wish, not a job's: a launcher inside a worker heeds it too.
  if (name == "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE") return false;
  // The launcher has taken it out of its own environment already.
  if (name == "RDZV_TOKEN") return true;
  return name.starts_with("PET_") || name.starts_with("TORCHELASTIC_") ||
         name.starts_with("DDPRUN_") || name == "DDPRUN" ||
         std::ranges::find(kRankVariables, name) != kRankVariables.end();
}

std::string entry(std::string_view name, const std::string& value) {
  return std::string(name) + "=" + value;
}

std::string entry(std::string_view name, int value) {
  return entry(name, std::to_string(value));
}

// A program that calls MPI_Init would take itself for the ddprun that mpirun has started.
bool belongs_to_mpi(std::string_view name) {
  return name.starts_with("PMI") || name.starts_with("OMPI_COMM_WORLD_");
}

// What every worker, or each for itself, is given instead of what it would inherit.
bool is_replaced(std::string_view name, const LaunchPlan& plan) {
  if (name == "OMP_NUM_THREADS")
    return plan.omp_num_threads || plan.workers.front().omp_num_threads;
  return name == "CUDA_VISIBLE_DEVICES" && plan.workers.front().visible_devices;
}

std::vector<std::string> inherited(const cli::Environment& parent, const LaunchPlan& plan) {
  std::vector<std::string> entries;
  entries.reserve(parent.entries().size() + 24);
  const bool under_mpi = plan.rendezvous.engine == cluster::Engine::mpi;
  for (const std::string& text : parent.entries()) {
    const std::string_view name = cli::variable_name(text);
    if (under_mpi && belongs_to_mpi(name)) continue;
    if (!belongs_to_another_job(name) && !is_replaced(name, plan)) entries.push_back(text);
  }
  return entries;
}

}  // namespace

WorkerEnvironment::WorkerEnvironment(const LaunchPlan& plan, const Meeting& meeting,
                                     const cli::Environment& parent)
    : shared_(inherited(parent, plan)), inherited_(static_cast<std::ptrdiff_t>(shared_.size())) {
  const auto add = [&](std::string_view name, const auto& value) {
    shared_.push_back(entry(name, value));
  };
  const std::string version(cli::version());
  add("MASTER_ADDR", meeting.master_addr);
  add("MASTER_PORT", meeting.master_port);
  add("WORLD_SIZE", plan.world_size);
  add("LOCAL_WORLD_SIZE", static_cast<int>(plan.workers.size()));
  add("GROUP_RANK", plan.node_rank);
  add("GROUP_WORLD_SIZE", plan.number_of_nodes);
  add("ROLE_NAME", plan.role);
  add("ROLE_WORLD_SIZE", plan.world_size);
  add("TORCHELASTIC_RUN_ID", meeting.run_id);
  add("TORCHELASTIC_RESTART_COUNT", meeting.restart_count);
  add("TORCHELASTIC_MAX_RESTARTS", plan.max_restarts);
  // The store listens before a worker starts, so every rank is only its client.
  add("TORCHELASTIC_USE_AGENT_STORE", std::string("True"));
  add("TORCHELASTIC_SIGNALS_TO_HANDLE", plan.signals_to_handle);
  if (!parent.get("TORCH_NCCL_ASYNC_ERROR_HANDLING")) add("TORCH_NCCL_ASYNC_ERROR_HANDLING", 1);
  if (plan.omp_num_threads) add("OMP_NUM_THREADS", *plan.omp_num_threads);
  add("DDPRUN", 1);
  add("DDPRUN_VERSION", version);
  if (plan.reports_progress) add("DDPRUN_PROGRESS_FD", kProgressDescriptor);
  if (plan.simulated_gpus) add("DDPRUN_SIMULATED_GPUS", *plan.simulated_gpus);
}

std::vector<std::string> WorkerEnvironment::own(const WorkerPlan& worker,
                                                const std::string& error_file) const {
  std::vector<std::string> entries{
      entry("RANK", worker.rank),
      entry("LOCAL_RANK", worker.visible_devices ? 0 : worker.local_rank),
      entry("ROLE_RANK", worker.rank), entry("DDPRUN_DEVICE", device_text(worker)),
      entry("TORCHELASTIC_ERROR_FILE", error_file)};
  if (worker.visible_devices)
    entries.push_back(entry("CUDA_VISIBLE_DEVICES", *worker.visible_devices));
  if (worker.omp_num_threads) entries.push_back(entry("OMP_NUM_THREADS", *worker.omp_num_threads));
  return entries;
}

}  // namespace ddprun::plan
