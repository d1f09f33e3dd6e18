#include "launcher/cluster/allocation.h"
#include "launcher/cluster/host_list.h"
#include "launcher/cluster/slurm_node.h"
#include "launcher/cluster/variables.h"

namespace ddprun::cluster {
namespace {

// Above it are the numbers of the batch script, the shell of salloc and the like, which are steps
// by name only.
constexpr std::uint64_t kLastStep = 0xffff'ffef;

struct Place {
  std::uint64_t job = 0;
  std::optional<std::uint64_t> step;  // none: not started by srun
};

Result<Place> place_of(const Variables& variables) {
  const auto job = text_of(variables, {"SLURM_JOB_ID", "SLURM_JOBID"});
  if (!job)
    return Error{
        "SLURM_JOB_ID is not set, so this process was not started by Slurm; start it with srun"};
  const auto number = digits_of(job->value);
  if (!number) return Error{job->source + "='" + job->value + "' is not the number of a job"};
  const auto step = text_of(variables, {"SLURM_STEP_ID", "SLURM_STEPID"});
  Place place{*number, std::nullopt};
  if (step) place.step = digits_of(step->value);
  if (place.step && *place.step > kLastStep) place.step.reset();
  return place;
}

// 1234 for the first step of the first attempt, then 1234.1, 1234.r1, 1234.1.r1: a requeued job
// keeps its number, and must not meet those who are left of its former life.
std::string run_id_of(const Place& place, int restarts) {
  std::string id = std::to_string(place.job);
  if (place.step.value_or(0) != 0) id += "." + std::to_string(*place.step);
  if (restarts != 0) id += ".r" + std::to_string(restarts);
  return id;
}

// ddprun starts the workers of a node, so srun starts one ddprun on each.
Error too_many_tasks(const Sourced<int>& tasks, const Sourced<int>& nodes) {
  return Error{"srun starts " + std::to_string(tasks.value) + " tasks on " +
               std::to_string(nodes.value) + (nodes.value == 1 ? " node" : " nodes") + " (" +
               shown(tasks) + ", " + shown(nodes) +
               "), but one ddprun on each node starts its workers; write srun --ntasks-per-node=1"};
}

Error without_srun(const Sourced<int>& nodes) {
  return Error{"this ddprun was not started by srun, so it runs on one of " +
               std::to_string(nodes.value) + " nodes (" + shown(nodes) +
               "); write srun --ntasks-per-node=1 ddprun ..."};
}

// Sets what the step's size is; the job's where Slurm does not say it of the step.
Result<void> read_size(const Variables& variables, const Place& place, Allocation& allocation) {
  const Result<std::optional<Sourced<int>>> nodes =
      place.step
          ? number_of(variables, {"SLURM_STEP_NUM_NODES", "SLURM_NNODES", "SLURM_JOB_NUM_NODES"}, 1)
          : number_of(variables, {"SLURM_JOB_NUM_NODES", "SLURM_NNODES"}, 1);
  if (!nodes) return nodes.error();
  if (!*nodes) return Error{"SLURM_NNODES is not set, so the number of nodes is not known"};
  allocation.nodes = *nodes;
  if (!place.step) {
    if ((*nodes)->value > 1) return without_srun(**nodes);
    allocation.node_rank = Sourced<int>{0, (*nodes)->source};
    return {};
  }
  const auto tasks = number_of(variables, {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}, 1);
  if (!tasks) return tasks.error();
  if (*tasks && (*tasks)->value > (*nodes)->value) return too_many_tasks(**tasks, **nodes);
  const auto per_node = text_of(variables, {"SLURM_NTASKS_PER_NODE"});
  if (!*tasks && per_node && per_node->value != "1")
    allocation.notices.push_back(shown(*per_node) +
                                 ": one ddprun on each node starts its workers; write srun "
                                 "--ntasks-per-node=1");
  return {};
}

Result<void> read_node_rank(const Variables& variables, Allocation& allocation) {
  if (allocation.node_rank) return {};
  const auto rank = number_of(variables, {"SLURM_NODEID"});
  if (!rank) return rank.error();
  if (!*rank) return Error{"SLURM_NODEID is not set, so it is not known which node this is"};
  if ((*rank)->value >= allocation.nodes->value)
    return Error{shown(**rank) + " and " + shown(*allocation.nodes) + " contradict each other"};
  allocation.node_rank = *rank;
  return {};
}

Result<void> read_hosts(const Variables& variables, const Place& place, Allocation& allocation) {
  const auto list =
      place.step
          ? text_of(variables, {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"})
          : text_of(variables, {"SLURM_JOB_NODELIST", "SLURM_NODELIST"});
  if (!list) return Error{"SLURM_JOB_NODELIST is not set, so it is not known where nodes can meet"};
  Result<std::vector<std::string>> hosts = read_host_list(list->value);
  if (!hosts) return Error{list->source + ": " + hosts.error().text};
  if (std::ssize(*hosts) != allocation.nodes->value)
    return Error{list->source + " names " + std::to_string(hosts->size()) + " hosts, but " +
                 shown(*allocation.nodes)};
  allocation.hosts = std::move(*hosts);
  allocation.host = Sourced<std::string>{allocation.hosts.front(), list->source};
  const auto aliases = text_of(variables, {"SLURM_NODE_ALIASES"});
  if (!aliases) return {};
  if (auto address = alias_address(aliases->value, allocation.host->value))
    allocation.host = Sourced<std::string>{std::move(*address), aliases->source};
  return {};
}

// "4", "gpu:4", "gpu:a100:4".
void read_gpus(const Variables& variables, Allocation& allocation) {
  const auto text = text_of(variables, {"SLURM_GPUS_ON_NODE"});
  if (!text) return;
  const auto number = digits_of(std::string_view(text->value).substr(text->value.rfind(':') + 1));
  if (number && *number <= kMostNodes)
    allocation.gpus = Sourced<int>{static_cast<int>(*number), text->source};
  else
    allocation.notices.push_back(shown(*text) + " is not a number of GPUs, ignored");
}

void warn_of_other_components(const Variables& variables, Allocation& allocation) {
  const auto size = text_of(variables, {"SLURM_HET_SIZE"});
  if (size && size->value != "1")
    allocation.notices.push_back(shown(*size) + ": of a heterogeneous job the nodes of this " +
                                 "component are used, not those of the others");
}

}  // namespace

Result<Allocation> read_slurm(const Variables& variables) {
  const Result<Place> place = place_of(variables);
  if (!place) return place.error();
  const auto restarts = number_of(variables, {"SLURM_RESTART_COUNT"});
  if (!restarts) return restarts.error();
  Allocation allocation;
  if (auto read = read_size(variables, *place, allocation); !read) return read.error();
  if (auto read = read_node_rank(variables, allocation); !read) return read.error();
  if (auto read = read_hosts(variables, *place, allocation); !read) return read.error();
  allocation.port =
      Sourced<std::uint16_t>{port_of_job(place->job, place->step.value_or(0)), "SLURM_JOB_ID"};
  allocation.run_id =
      Sourced<std::string>{run_id_of(*place, *restarts ? (*restarts)->value : 0), "SLURM_JOB_ID"};
  read_gpus(variables, allocation);
  warn_of_other_components(variables, allocation);
  return allocation;
}

std::uint16_t port_of_job(std::uint64_t job, std::uint64_t step) {
  constexpr std::uint64_t kFirst = 12'000, kPorts = 16'000, kSteps = 8;
  return static_cast<std::uint16_t>(kFirst + (job % kPorts * kSteps + step % kSteps) % kPorts);
}

std::string slurm_hint(const Variables& variables) {
  const auto nodes = number_of(variables, {"SLURM_STEP_NUM_NODES"}, 1);
  const Result<Place> place = place_of(variables);
  if (!nodes || !*nodes || (*nodes)->value < 2 || !place || !place->step) return {};
  return "Slurm runs this step on " + std::to_string((*nodes)->value) + " nodes (" +
         shown(**nodes) +
         "), and each ddprun there is a job of its own; --cluster slurm makes one job of them";
}

}  // namespace ddprun::cluster
