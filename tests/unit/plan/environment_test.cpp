// The environment of a worker.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "launcher/cli/version.h"
#include "launcher/plan/worker_environment.h"
#include "tests/unit/plan/planning.h"

namespace ddprun::plan {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

Meeting a_meeting() {
  return {"127.0.0.1", 41234, "run-7", 2};
}

std::map<std::string, std::string> map_of(const Words& entries) {
  std::map<std::string, std::string> map;
  for (const std::string& entry : entries) {
    const auto equals = entry.find('=');
    EXPECT_TRUE(map.emplace(entry.substr(0, equals), entry.substr(equals + 1)).second)
        << entry << " is there twice";
  }
  return map;
}

// What one worker gets, from both parts.
std::map<std::string, std::string> environment_of(const LaunchPlan& plan, int rank,
                                                  const Words& parent = {}) {
  const WorkerEnvironment environment(plan, a_meeting(), cli::Environment(parent));
  Words entries = environment.shared();
  for (std::string& entry :
       environment.own(plan.workers[static_cast<std::size_t>(rank)], "/run/error.json"))
    entries.push_back(std::move(entry));
  return map_of(entries);
}

TEST(WorkerEnvironment, LeavesOutWhatMpirunHasTold) {
  const Words parent{"PMI_RANK=3", "PMIX_RANK=3", "OMPI_COMM_WORLD_RANK=3", "OMPI_MCA_btl=tcp",
                     "SLURM_NODEID=3"};
  LaunchPlan plan = plan_of({"-n", "1", "p"}, gpus(0));
  EXPECT_TRUE(environment_of(plan, 0, parent).contains("PMI_RANK"));
  plan.rendezvous.engine = cluster::Engine::mpi;
  const auto environment = environment_of(plan, 0, parent);
  for (const char* gone : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"})
    EXPECT_FALSE(environment.contains(gone)) << gone;
  EXPECT_TRUE(environment.contains("OMPI_MCA_btl"));
  EXPECT_TRUE(environment.contains("SLURM_NODEID"));
}

TEST(WorkerEnvironment, HasExactlyTheNamesOfTorchrunAndItsOwn) {
  Node node = a_node();
  node.omp_num_threads_set = false;
  const auto environment =
      environment_of(plan_of({"-n", "2", "--role", "trainer", "p"}, gpus(8), "1,2", node), 1);
  const std::map<std::string, std::string> expected{
      {"LOCAL_RANK", "1"},
      {"RANK", "1"},
      {"GROUP_RANK", "0"},
      {"ROLE_RANK", "1"},
      {"ROLE_WORLD_SIZE", "2"},
      {"ROLE_NAME", "trainer"},
      {"LOCAL_WORLD_SIZE", "2"},
      {"WORLD_SIZE", "2"},
      {"GROUP_WORLD_SIZE", "1"},
      {"MASTER_ADDR", "127.0.0.1"},
      {"MASTER_PORT", "41234"},
      {"TORCHELASTIC_RESTART_COUNT", "2"},
      {"TORCHELASTIC_MAX_RESTARTS", "0"},
      {"TORCHELASTIC_RUN_ID", "run-7"},
      {"TORCHELASTIC_USE_AGENT_STORE", "True"},
      {"TORCHELASTIC_ERROR_FILE", "/run/error.json"},
      {"TORCHELASTIC_SIGNALS_TO_HANDLE", "SIGTERM,SIGINT,SIGHUP,SIGQUIT"},
      {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"},
      {"OMP_NUM_THREADS", "8"},
      {"DDPRUN", "1"},
      {"DDPRUN_VERSION", std::string(cli::version())},
      {"DDPRUN_DEVICE", "cuda:1"},
  };
  EXPECT_EQ(environment, expected);
}

TEST(WorkerEnvironment, TellsTheOptionsThatWorkersAskFor) {
  const auto environment = environment_of(
      plan_of({"--max-restarts", "3", "--signals-to-handle", "USR1,TERM", "p"}, gpus(0)), 0);
  EXPECT_EQ(environment.at("TORCHELASTIC_MAX_RESTARTS"), "3");
  EXPECT_EQ(environment.at("TORCHELASTIC_SIGNALS_TO_HANDLE"), "SIGUSR1,SIGTERM");
}

TEST(WorkerEnvironment, HasADescriptorForProgressWhereItIsAskedFor) {
  LaunchPlan plan = plan_of({"-n", "1", "p"}, gpus(0));
  EXPECT_EQ(environment_of(plan, 0).count("DDPRUN_PROGRESS_FD"), 0u);
  plan.reports_progress = true;
  EXPECT_EQ(environment_of(plan, 0).at("DDPRUN_PROGRESS_FD"), "3");
}

TEST(WorkerEnvironment, InheritsTheRestInItsOrder) {
  const LaunchPlan plan = plan_of({"-n", "1", "p"}, gpus(0));
  const Words parent{"PATH=/bin", "CUDA_VISIBLE_DEVICES=1,2", "odd", "SLURM_PROCID=3", "EMPTY="};
  const WorkerEnvironment environment(plan, a_meeting(), cli::Environment(parent));
  const Words start(environment.shared().begin(), environment.shared().begin() + 5);
  EXPECT_EQ(start, parent);
}

TEST(WorkerEnvironment, LeavesOutWhatBelongsToAnotherJob) {
  const auto environment = environment_of(
      plan_of({"-n", "1", "p"}, gpus(0)), 0,
      {"RANK=7", "WORLD_SIZE=64", "LOCAL_RANK=7", "MASTER_ADDR=elsewhere", "MASTER_PORT=1",
       "PET_NNODES=1", "TORCHELASTIC_TIMER_FILE=x", "TORCHELASTIC_RUN_ID=old", "DDPRUN_NVML=x",
       "DDPRUN_SIMULATED_GPUS=4", "DDPRUN=1", "RANK=8", "DDPRUNNER=mine", "MY_RANK=5"});
  EXPECT_EQ(environment.at("RANK"), "0");
  EXPECT_EQ(environment.at("WORLD_SIZE"), "1");
  EXPECT_EQ(environment.at("MASTER_ADDR"), "127.0.0.1");
  EXPECT_EQ(environment.at("TORCHELASTIC_RUN_ID"), "run-7");
  EXPECT_EQ(environment.at("DDPRUNNER"), "mine");
  EXPECT_EQ(environment.at("MY_RANK"), "5");
  for (const char* name :
       {"PET_NNODES", "TORCHELASTIC_TIMER_FILE", "DDPRUN_NVML", "DDPRUN_SIMULATED_GPUS"})
    EXPECT_EQ(environment.count(name), 0u) << name;
}

TEST(WorkerEnvironment, KeepsWhatTheUserSet) {
  const auto environment =
      environment_of(plan_of({"-n", "2", "p"}, gpus(0)), 0,
                     {"OMP_NUM_THREADS=3", "TORCH_NCCL_ASYNC_ERROR_HANDLING=0"});
  EXPECT_EQ(environment.at("OMP_NUM_THREADS"), "3");
  EXPECT_EQ(environment.at("TORCH_NCCL_ASYNC_ERROR_HANDLING"), "0");
}

TEST(WorkerEnvironment, NamesTheDevice) {
  EXPECT_EQ(environment_of(plan_of({"-n", "2", "p"}, gpus(0)), 1).at("DDPRUN_DEVICE"), "cpu");
  const auto simulated =
      environment_of(plan_of({"--simulate-gpus=8", "-n", "2", "p"}, devices::simulate(8), "3,4"), 1,
                     {"CUDA_VISIBLE_DEVICES=3,4"});
  EXPECT_EQ(simulated.at("DDPRUN_DEVICE"), "cuda:1");
  EXPECT_EQ(simulated.at("DDPRUN_SIMULATED_GPUS"), "8");
  EXPECT_EQ(simulated.at("CUDA_VISIBLE_DEVICES"), "3,4");
}

TEST(WorkerEnvironment, GivesThreadsAsPlannedInsteadOfWhatIsInherited) {
  LaunchPlan plan = plan_of({"-n", "2", "p"}, gpus(0));
  plan.omp_num_threads = 6;
  EXPECT_EQ(environment_of(plan, 0, {"OMP_NUM_THREADS=3"}).at("OMP_NUM_THREADS"), "6");
  plan.omp_num_threads.reset();
  plan.workers[0].omp_num_threads = 5;
  plan.workers[1].omp_num_threads = 4;
  EXPECT_EQ(environment_of(plan, 0, {"OMP_NUM_THREADS=3"}).at("OMP_NUM_THREADS"), "5");
  EXPECT_EQ(environment_of(plan, 1, {"OMP_NUM_THREADS=3"}).at("OMP_NUM_THREADS"), "4");
}

TEST(WorkerEnvironment, AVirtualLocalRankIsZeroOnOneDevice) {
  const auto environment_on = [](const devices::NodeGpus& node,
                                 const std::optional<std::string>& list, int rank) {
    Words parent;
    if (list) parent.push_back("CUDA_VISIBLE_DEVICES=" + *list);
    return environment_of(virtual_plan_of({"-n", "2", "p"}, node, list), rank, parent);
  };
  const auto second = environment_on(gpus(8), "GPU-a6,GPU-a3", 1);
  EXPECT_EQ(second.at("RANK"), "1");
  EXPECT_EQ(second.at("LOCAL_RANK"), "0");
  EXPECT_EQ(second.at("LOCAL_WORLD_SIZE"), "2");
  EXPECT_EQ(second.at("CUDA_VISIBLE_DEVICES"), "GPU-a3");
  EXPECT_EQ(second.at("DDPRUN_DEVICE"), "cuda:0");
  EXPECT_EQ(environment_on(gpus(8), std::nullopt, 1).at("CUDA_VISIBLE_DEVICES"), "1");
  EXPECT_EQ(environment_on(gpus(8), "7,2", 0).at("CUDA_VISIBLE_DEVICES"), "7");
  EXPECT_EQ(environment_on(gpus(8), "7, 2", 1).at("CUDA_VISIBLE_DEVICES"), "2");
  EXPECT_EQ(environment_on(devices::simulate(8), "4,5", 1).at("CUDA_VISIBLE_DEVICES"), "5");
}

// On the CPU it is what torchrun gives, which does not ask for GPUs.
TEST(WorkerEnvironment, AVirtualLocalRankOnTheCpu) {
  const auto list_of = [](const std::optional<std::string>& list, int rank) {
    const LaunchPlan plan = virtual_plan_of({"-n", "2", "p"}, gpus(0), list);
    const auto environment = environment_of(plan, rank);
    EXPECT_EQ(environment.at("LOCAL_RANK"), "0");
    EXPECT_EQ(environment.at("DDPRUN_DEVICE"), "cpu");
    return environment.at("CUDA_VISIBLE_DEVICES");
  };
  EXPECT_EQ(list_of(std::nullopt, 1), "1");
  EXPECT_EQ(list_of("4,GPU-ab", 0), "4");
  EXPECT_EQ(list_of("4,GPU-ab", 1), "GPU-ab");
  EXPECT_EQ(list_of("4", 1), "4") << "there is no second entry, so the list stays as it is";
}

TEST(WorkerEnvironment, IsSharedButForFiveNames) {
  const LaunchPlan plan = plan_of({"-n", "2", "p"}, gpus(2));
  const WorkerEnvironment environment(plan, a_meeting(), cli::Environment(Words{"A=1"}));
  const auto own = map_of(environment.own(plan.workers[1], ""));
  EXPECT_EQ(own.size(), 5u);
  EXPECT_EQ(own.at("TORCHELASTIC_ERROR_FILE"), "");
  const auto shared = map_of(environment.shared());
  for (const auto& [name, value] : own) EXPECT_EQ(shared.count(name), 0u) << name;
  EXPECT_THAT(environment.added(), Not(Contains("A=1")));
  EXPECT_THAT(environment.shared(), IsSupersetOf(environment.added()));
}

}  // namespace
}  // namespace ddprun::plan
