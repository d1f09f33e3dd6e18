// What each engine's variables say.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "launcher/cluster/allocation.h"

namespace ddprun::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Map = std::map<std::string, std::string>;

Variables variables(const Map& map) {
  return [map](std::string_view name) -> std::optional<std::string_view> {
    const auto found = map.find(std::string(name));
    if (found == map.end()) return std::nullopt;
    // The map of the function outlives what it gives.
    return std::string_view(found->second);
  };
}

Allocation allocation_of(Engine engine, const Map& map) {
  const Result<Allocation> allocation = read(engine, variables(map));
  if (allocation) return *allocation;
  ADD_FAILURE() << allocation.error().text;
  return {};
}

std::string error_of(Engine engine, const Map& map) {
  const Result<Allocation> allocation = read(engine, variables(map));
  return allocation ? "" : allocation.error().text;
}

Map with(Map map, const Map& more) {
  for (const auto& [name, value] : more) {
    map[name] = value;
    if (value == "(unset)") map.erase(name);
  }
  return map;
}

// A task of srun --ntasks-per-node=1 on nodes 2 and 3 of a job of three nodes.
Map step() {
  return {{"SLURM_JOB_ID", "4711"},      {"SLURM_JOB_NUM_NODES", "3"},
          {"SLURM_NNODES", "3"},         {"SLURM_JOB_NODELIST", "gpu[01-03]"},
          {"SLURM_STEP_ID", "0"},        {"SLURM_STEP_NUM_NODES", "2"},
          {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_STEP_NODELIST", "gpu[02-03]"},
          {"SLURM_NODEID", "1"},         {"SLURM_GPUS_ON_NODE", "4"}};
}

TEST(Slurm, AStepCountsMoreThanItsJob) {
  const Allocation step_of_two = allocation_of(Engine::slurm, step());
  EXPECT_EQ(step_of_two.nodes->value, 2);
  EXPECT_EQ(step_of_two.nodes->source, "SLURM_STEP_NUM_NODES");
  EXPECT_EQ(step_of_two.node_rank->value, 1);
  EXPECT_EQ(step_of_two.host->value, "gpu02");
  EXPECT_EQ(step_of_two.host->source, "SLURM_STEP_NODELIST");
  EXPECT_FALSE(step_of_two.host_is_guess);
  EXPECT_THAT(step_of_two.hosts, ElementsAre("gpu02", "gpu03"));
  EXPECT_EQ(step_of_two.gpus->value, 4);
  EXPECT_EQ(step_of_two.run_id->value, "4711");
  EXPECT_EQ(step_of_two.port->value, port_of_job(4711, 0));
  EXPECT_THAT(step_of_two.notices, IsEmpty());
}

TEST(Slurm, TheJobSaysWhatAnOldSlurmDoesNotSayOfTheStep) {
  const Allocation old =
      allocation_of(Engine::slurm, with(step(), {{"SLURM_STEP_NUM_NODES", "(unset)"},
                                                 {"SLURM_STEP_NODELIST", "(unset)"},
                                                 {"SLURM_STEP_NUM_TASKS", "(unset)"}}));
  EXPECT_EQ(old.nodes->value, 3);
  EXPECT_EQ(old.host->value, "gpu01");
}

TEST(Slurm, AnAddressThatItSetsIsBetterThanTheName) {
  const Allocation cloud = allocation_of(
      Engine::slurm, with(step(), {{"SLURM_NODE_ALIASES", "gpu02:10.0.0.2:a,gpu03:10.0.0.3:b"}}));
  EXPECT_EQ(cloud.host->value, "10.0.0.2");
  EXPECT_EQ(cloud.host->source, "SLURM_NODE_ALIASES");
  EXPECT_THAT(cloud.hosts, ElementsAre("gpu02", "gpu03"));
  EXPECT_EQ(
      allocation_of(Engine::slurm, with(step(), {{"SLURM_NODE_ALIASES", "(null)"}})).host->value,
      "gpu02");
}

TEST(Slurm, IsNotWhereItsVariablesAreNot) {
  EXPECT_THAT(error_of(Engine::slurm, {}), HasSubstr("SLURM_JOB_ID is not set"));
  EXPECT_THAT(error_of(Engine::slurm, with(step(), {{"SLURM_NODEID", "(unset)"}})),
              HasSubstr("SLURM_NODEID is not set"));
  EXPECT_THAT(error_of(Engine::slurm, with(step(), {{"SLURM_STEP_NODELIST", "(unset)"},
                                                    {"SLURM_JOB_NODELIST", "(unset)"}})),
              HasSubstr("SLURM_JOB_NODELIST is not set"));
}

TEST(Slurm, OneDdprunIsStartedOnEachNode) {
  EXPECT_THAT(error_of(Engine::slurm, with(step(), {{"SLURM_STEP_NUM_TASKS", "16"}})),
              HasSubstr("srun starts 16 tasks on 2 nodes (SLURM_STEP_NUM_TASKS=16, "
                        "SLURM_STEP_NUM_NODES=2)"));
  EXPECT_THAT(error_of(Engine::slurm, with(step(), {{"SLURM_STEP_ID", "(unset)"}})),
              HasSubstr("was not started by srun, so it runs on one of 3 nodes"));
  EXPECT_THAT(error_of(Engine::slurm, with(step(), {{"SLURM_STEP_ID", "4294967291"}})),
              HasSubstr("was not started by srun"))
      << "the number of the batch script";
  // What sbatch was told stays in the environment of a step that was told otherwise.
  const Map left_over = with(step(), {{"SLURM_NTASKS_PER_NODE", "8"}});
  EXPECT_THAT(allocation_of(Engine::slurm, left_over).notices, IsEmpty());
  EXPECT_THAT(
      allocation_of(Engine::slurm, with(left_over, {{"SLURM_STEP_NUM_TASKS", "(unset)"}})).notices,
      ElementsAre(HasSubstr("SLURM_NTASKS_PER_NODE=8: one ddprun on each node")));
}

TEST(Slurm, ABatchScriptOfOneNodeNeedsNoSrun) {
  const Allocation one = allocation_of(
      Engine::slurm,
      {{"SLURM_JOB_ID", "5"}, {"SLURM_JOB_NUM_NODES", "1"}, {"SLURM_JOB_NODELIST", "n7"}});
  EXPECT_EQ(one.nodes->value, 1);
  EXPECT_EQ(one.node_rank->value, 0);
}

TEST(Slurm, ShowsBothValuesThatContradictEachOther) {
  EXPECT_EQ(error_of(Engine::slurm, with(step(), {{"SLURM_NODEID", "2"}})),
            "SLURM_NODEID=2 and SLURM_STEP_NUM_NODES=2 contradict each other");
  EXPECT_EQ(error_of(Engine::slurm, with(step(), {{"SLURM_STEP_NODELIST", "gpu[01-03]"}})),
            "SLURM_STEP_NODELIST names 3 hosts, but SLURM_STEP_NUM_NODES=2");
}

TEST(Slurm, NamesAVariableThatMakesNoSense) {
  for (const auto& [name, value] : Map{{"SLURM_JOB_ID", "x"},
                                       {"SLURM_STEP_NUM_NODES", "0"},
                                       {"SLURM_NODEID", "-1"},
                                       {"SLURM_STEP_NODELIST", "gpu[1"},
                                       {"SLURM_RESTART_COUNT", "many"},
                                       {"SLURM_STEP_NUM_TASKS", "99999999999999999999"}})
    EXPECT_THAT(error_of(Engine::slurm, with(step(), {{name, value}})), HasSubstr(name)) << value;
}

TEST(Slurm, RunsOfOneJobAreToldApart) {
  const auto id = [](const Map& more) {
    return allocation_of(Engine::slurm, with(step(), more)).run_id->value;
  };
  EXPECT_EQ(id({{"SLURM_RESTART_COUNT", "0"}}), "4711");
  EXPECT_EQ(id({{"SLURM_STEP_ID", "3"}}), "4711.3");
  EXPECT_EQ(id({{"SLURM_RESTART_COUNT", "2"}}), "4711.r2");
  EXPECT_EQ(id({{"SLURM_STEP_ID", "3"}, {"SLURM_RESTART_COUNT", "2"}}), "4711.3.r2");
}

TEST(Slurm, JobsThatFollowEachOtherHaveOtherPorts) {
  std::set<int> ports;
  for (std::uint64_t job = 1'000'000; job < 1'002'000; ++job)
    for (const std::uint64_t step : {0, 7}) {
      const int port = port_of_job(job, step);
      EXPECT_GE(port, 12'000);
      EXPECT_LT(port, 28'000);
      ports.insert(port);
    }
  EXPECT_EQ(ports.size(), 4'000u);
  EXPECT_EQ(port_of_job(4711, 0), 17'688) << "documented, so it stays";
}

TEST(Slurm, TheNumberOfGpusHasSeveralForms) {
  for (const auto& [text, number] :
       std::map<std::string, int>{{"4", 4}, {"gpu:8", 8}, {"gpu:a100:2", 2}, {"0", 0}})
    EXPECT_EQ(
        allocation_of(Engine::slurm, with(step(), {{"SLURM_GPUS_ON_NODE", text}})).gpus->value,
        number);
  const Allocation odd =
      allocation_of(Engine::slurm, with(step(), {{"SLURM_GPUS_ON_NODE", "all"}}));
  EXPECT_FALSE(odd.gpus);
  EXPECT_THAT(odd.notices, ElementsAre(HasSubstr("SLURM_GPUS_ON_NODE=all is not a number")));
}

TEST(Slurm, HintsOnlyWhereAStepHasSeveralNodes) {
  EXPECT_THAT(slurm_hint(variables(step())),
              HasSubstr("Slurm runs this step on 2 nodes (SLURM_STEP_NUM_NODES=2)"));
  EXPECT_EQ(slurm_hint(variables({})), "");
  EXPECT_EQ(slurm_hint(variables(with(step(), {{"SLURM_STEP_NUM_NODES", "1"}}))), "");
  EXPECT_EQ(slurm_hint(variables(with(step(), {{"SLURM_STEP_ID", "(unset)"}}))), "");
}

TEST(Kubernetes, AnIndexedJobsPodKnowsItsNumberAndTheFirstPod) {
  const Allocation pod =
      allocation_of(Engine::kubernetes, {{"JOB_COMPLETION_INDEX", "3"}, {"HOSTNAME", "train-3"}});
  EXPECT_FALSE(pod.nodes);
  EXPECT_EQ(pod.node_rank->value, 3);
  EXPECT_EQ(pod.host->value, "train-0.train");
  EXPECT_TRUE(pod.host_is_guess);
  EXPECT_EQ(pod.run_id->value, "train");
}

TEST(Kubernetes, AJobSetHasAServiceOfItsOwnName) {
  const Map pod{{"JOB_COMPLETION_INDEX", "1"},
                {"HOSTNAME", "train-node-0-1"},
                {"JOBSET_NAME", "train"},
                {"JOBSET_RESTART_ATTEMPT", "2"}};
  const Allocation allocation = allocation_of(Engine::kubernetes, pod);
  EXPECT_EQ(allocation.host->value, "train-node-0-0.train");
  EXPECT_EQ(allocation.run_id->value, "train.r2");
  const Allocation other =
      allocation_of(Engine::kubernetes, with(pod, {{"HOSTNAME", "train-node-1-1"}}));
  EXPECT_FALSE(other.node_rank) << "the index counts within one Job";
  EXPECT_FALSE(other.host);
  EXPECT_THAT(other.notices, ElementsAre(HasSubstr("this pod is in Job 1 of JobSet train")));
}

TEST(Kubernetes, APodThatIsCalledOtherwiseHasNoFirstOne) {
  const Allocation pod =
      allocation_of(Engine::kubernetes, {{"JOB_COMPLETION_INDEX", "3"}, {"HOSTNAME", "worker"}});
  EXPECT_EQ(pod.node_rank->value, 3);
  EXPECT_FALSE(pod.host);
  EXPECT_FALSE(pod.run_id);
}

TEST(Kubernetes, IsNotWhereItsVariablesAreNot) {
  EXPECT_THAT(error_of(Engine::kubernetes, {}), HasSubstr("is in no pod of an indexed Job"));
  EXPECT_THAT(error_of(Engine::kubernetes, {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}}),
              HasSubstr("completionMode: Indexed"));
  EXPECT_THAT(error_of(Engine::kubernetes, {{"JOB_COMPLETION_INDEX", "x"}}),
              HasSubstr("JOB_COMPLETION_INDEX='x' is not a number"));
}

TEST(Mpi, EachFamilyHasNamesOfItsOwn) {
  const std::vector<Map> families{
      {{"OMPI_COMM_WORLD_RANK", "1"},
       {"OMPI_COMM_WORLD_SIZE", "4"},
       {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}},
      {{"JSM_NAMESPACE_RANK", "1"}, {"JSM_NAMESPACE_SIZE", "4"}, {"JSM_NAMESPACE_LOCAL_SIZE", "1"}},
      {{"FLUX_TASK_RANK", "1"}, {"FLUX_JOB_SIZE", "4"}, {"FLUX_JOB_NNODES", "4"}},
      {{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"MPI_LOCALNRANKS", "1"}},
      {{"PBS_NODENUM", "1"}, {"PBS_NUM_NODES", "4"}}};
  for (const Map& family : families) {
    const Allocation allocation = allocation_of(Engine::mpi, family);
    EXPECT_EQ(allocation.nodes->value, 4) << family.begin()->first;
    EXPECT_EQ(allocation.node_rank->value, 1) << family.begin()->first;
    EXPECT_FALSE(allocation.host);
    if (allocation.processes_on_host) {
      EXPECT_EQ(allocation.processes_on_host->value, 1);
    }
  }
  const Allocation pmix = allocation_of(Engine::mpi, {{"PMIX_RANK", "2"}});
  EXPECT_EQ(pmix.node_rank->value, 2);
  EXPECT_FALSE(pmix.nodes);
}

TEST(Hosts, SayPlaceAndMeetingPoint) {
  const Map first{{"DDPRUN_HOSTS_RANK", "0"},
                  {"DDPRUN_HOSTS_SIZE", "2"},
                  {"DDPRUN_HOSTS_ADDRESS", "10.0.0.1"},
                  {"DDPRUN_HOSTS_PORT", "0"}};
  const Allocation allocation = allocation_of(Engine::hosts, first);
  EXPECT_EQ(allocation.nodes->value, 2);
  EXPECT_EQ(allocation.node_rank->value, 0);
  EXPECT_EQ(allocation.host->value, "10.0.0.1");
  EXPECT_EQ(allocation.port->value, 0);
  EXPECT_FALSE(allocation_of(Engine::hosts, with(first, {{"DDPRUN_HOSTS_PORT", "(unset)"}})).port);
  for (const char* rank : {"", "2", "x", "(unset)"})
    EXPECT_NE(error_of(Engine::hosts, with(first, {{"DDPRUN_HOSTS_RANK", rank}})), "") << rank;
}

TEST(Mpi, TheOuterFamilyCounts) {
  const Allocation flux = allocation_of(Engine::mpi, {{"FLUX_TASK_RANK", "1"},
                                                      {"FLUX_JOB_SIZE", "8"},
                                                      {"FLUX_JOB_NNODES", "2"},
                                                      {"PMI_RANK", "0"},
                                                      {"PMI_SIZE", "1"}});
  EXPECT_EQ(flux.nodes->value, 8);
  EXPECT_EQ(flux.processes_on_host->value, 4);
}

TEST(Mpi, TheBatchSystemsJobIsTheRun) {
  const Map task{{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}};
  EXPECT_FALSE(allocation_of(Engine::mpi, task).run_id);
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID",
                           "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"})
    EXPECT_EQ(allocation_of(Engine::mpi, with(task, {{name, "12.server"}})).run_id->value,
              "12.server");
}

TEST(Mpi, IsNotWhereItsVariablesAreNot) {
  EXPECT_THAT(error_of(Engine::mpi, {}), HasSubstr("was not started by an MPI launcher"));
  EXPECT_EQ(error_of(Engine::mpi, {{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}}),
            "PMI_RANK=2 and PMI_SIZE=2 contradict each other");
  EXPECT_THAT(error_of(Engine::mpi, {{"OMPI_COMM_WORLD_RANK", "x"}}),
              HasSubstr("OMPI_COMM_WORLD_RANK='x'"));
}

}  // namespace
}  // namespace ddprun::cluster
