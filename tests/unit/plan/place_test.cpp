// CPUs and threads in a plan, and what is said about them.
#include "launcher/plan/place.h"

#include <gmock/gmock.h>

#include "tests/unit/placement/topologies.h"
#include "tests/unit/plan/planning.h"

namespace ddprun::plan {
namespace {

using cli::BindMode;
using cli::ThreadCount;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A node with 64 CPUs at four NUMA nodes and GPU k at node k / 2.
Node a_bound_node(int allowed_cpus = 64) {
  Node node = a_node();
  node.omp_num_threads_set = false;
  node.allowed_cpus = allowed_cpus;
  Machine machine;
  machine.topology = placement::two_sockets();
  for (const placement::Cpu& cpu : machine.topology->cpus) machine.allowed.push_back(cpu.id);
  for (const devices::Gpu& gpu : gpus(8).gpus) machine.gpu_nodes[gpu.pci_address] = gpu.index / 2;
  node.machine = machine;
  return node;
}

struct Asked {
  BindMode bind = BindMode::node;
  ThreadCount threads = {};
  bool report = false;
};

LaunchPlan plan_for(const Asked& asked, const Words& words, const devices::NodeGpus& node_gpus,
                    const std::optional<std::string>& list = std::nullopt,
                    const Node& node = a_bound_node()) {
  cli::JobSpec job = job_of(words);
  job.bind = asked.bind;
  job.threads = asked.threads;
  job.report_bindings = asked.report;
  const Result<LaunchPlan> plan = make(job, node_gpus, devices::visible(list, node_gpus), node);
  if (plan) return *plan;
  ADD_FAILURE() << "refused: " << plan.error().text;
  return {};
}

Words cpus_of(const LaunchPlan& plan) {
  Words texts;
  for (const WorkerPlan& worker : plan.workers) texts.push_back(cpus_text(worker));
  return texts;
}

TEST(BindWorkers, TheNodeIsFoundThroughTheVisibleList) {
  EXPECT_THAT(cpus_of(plan_for({}, {"-n", "3", "p"}, gpus(8), "7,0,4")),
              ElementsAre("48-63", "0-15", "32-47"));
  EXPECT_THAT(cpus_of(plan_for({}, {"-n", "2", "p"}, gpus(8), "GPU-a5,GPU-a2")),
              ElementsAre("32-47", "16-31"));
  // Sharing a GPU is sharing its node.
  EXPECT_THAT(cpus_of(plan_for({}, {"-n", "3", "--oversubscribe", "p"}, gpus(8), "7,0")),
              ElementsAre("48-63", "0-15", "48-63"));
}

TEST(BindWorkers, CpuWorkersGetSharesOfTheCores) {
  EXPECT_THAT(cpus_of(plan_for({}, {"-n", "2", "p"}, gpus(0))), ElementsAre("0-31", "32-63"));
  EXPECT_THAT(cpus_of(plan_for({}, {"--simulate-gpus=8", "-n", "2", "p"}, devices::simulate(8))),
              ElementsAre("0-31", "32-63"));
}

TEST(BindWorkers, WithoutATopologyItIsSaidAndNobodyIsBound) {
  Node node = a_bound_node();
  node.machine->topology.reset();
  node.machine->failure = "its module is not there";
  const LaunchPlan plan = plan_for({}, {"-n", "2", "p"}, gpus(8), std::nullopt, node);
  EXPECT_THAT(plan.notices,
              Contains("--bind node: the workers are not bound: its module is not there"));
  EXPECT_EQ(plan.workers[0].binding, std::nullopt);
}

TEST(BindWorkers, WhoIsNotBoundIsSaidInOneLine) {
  Node node = a_bound_node();
  node.machine->gpu_nodes.erase("0000:11:00.0");
  node.machine->gpu_nodes.erase("0000:12:00.0");
  const LaunchPlan plan = plan_for({}, {"-n", "4", "p"}, gpus(8), std::nullopt, node);
  EXPECT_THAT(plan.notices, Contains("--bind node: ranks 1-2 are not bound: the kernel does not "
                                     "say which NUMA node GPU 0000:11:00.0 is at"));
  EXPECT_THAT(cpus_of(plan), ElementsAre("0-15", "", "", "16-31"));
}

TEST(BindWorkers, SharedCoresAreSaidOnce) {
  const LaunchPlan plan = plan_for({BindMode::cores}, {"-n", "40", "p"}, gpus(0));
  EXPECT_THAT(plan.notices, Contains(HasSubstr("--bind cores: 40 workers share the 32 cores")));
}

TEST(BindWorkers, TheMaskCountsOnThisMachineOnly) {
  Node node = a_bound_node();
  node.machine->allowed = {0, 1, 2, 3};
  EXPECT_THAT(cpus_of(plan_for({}, {"-n", "1", "p"}, gpus(8), std::nullopt, node)),
              ElementsAre("0-15"));
  node.machine->topology->this_machine = true;
  EXPECT_THAT(cpus_of(plan_for({}, {"-n", "1", "p"}, gpus(8), std::nullopt, node)),
              ElementsAre("0-3"));
}

TEST(ReportBindings, IsOneLineForEachRank) {
  EXPECT_THAT(
      plan_for({BindMode::socket, {}, true}, {"-n", "2", "p"}, gpus(8), "7,1").binding_report,
      ElementsAre("rank 0: CPUs 32-63, NUMA nodes 2-3, cuda:0, GPU 7 at 0000:17:00.0",
                  "rank 1: CPUs 0-31, NUMA nodes 0-1, cuda:1, GPU 1 at 0000:11:00.0"));
  EXPECT_THAT(plan_for({BindMode::none, {}, true}, {"-n", "1", "p"}, gpus(0)).binding_report,
              ElementsAre("rank 0: CPUs 0-63 (not bound), cpu"));
  EXPECT_THAT(plan_for({}, {"-n", "1", "p"}, gpus(8)).binding_report, IsEmpty());
}

TEST(Threads, AreTheShareOfTheCpusThatAWorkerIsBoundTo) {
  const LaunchPlan even = plan_for({}, {"-n", "4", "p"}, gpus(8));
  EXPECT_EQ(even.omp_num_threads, 8) << "two workers on each node of 16 CPUs";
  EXPECT_THAT(even.notices, ElementsAre("OMP_NUM_THREADS=8 for each worker (its share of the CPUs "
                                        "that it is bound to)"));
  const LaunchPlan uneven = plan_for({}, {"-n", "3", "p"}, gpus(8));
  EXPECT_EQ(uneven.omp_num_threads, std::nullopt);
  EXPECT_EQ(uneven.workers[0].omp_num_threads, 8);
  EXPECT_EQ(uneven.workers[2].omp_num_threads, 16);
  EXPECT_THAT(uneven.notices, ElementsAre(HasSubstr("OMP_NUM_THREADS=8-16 for each worker")));
}

TEST(Threads, AQuotaBoundsTheShare) {
  EXPECT_EQ(plan_for({}, {"-n", "4", "p"}, gpus(8), std::nullopt, a_bound_node(20)).omp_num_threads,
            5);
}

TEST(Threads, AWorkerThatIsNotBoundGetsTheShareOfAll) {
  Node node = a_bound_node();
  node.machine->gpu_nodes.erase("0000:10:00.0");
  const LaunchPlan plan = plan_for({}, {"-n", "2", "p"}, gpus(8), "0,2", node);
  EXPECT_EQ(plan.workers[0].omp_num_threads, 32);
  EXPECT_EQ(plan.workers[1].omp_num_threads, 16);
}

constexpr ThreadCount kAuto{ThreadCount::Kind::automatic};
constexpr ThreadCount kSix{ThreadCount::Kind::number, 6};

TEST(Threads, AskedForTheyReplaceTheEnvironment) {
  Node node = a_node();
  ASSERT_TRUE(node.omp_num_threads_set);
  const LaunchPlan six =
      plan_for({BindMode::none, kSix}, {"-n", "2", "p"}, gpus(0), std::nullopt, node);
  EXPECT_EQ(six.omp_num_threads, 6);
  EXPECT_THAT(six.notices, ElementsAre("OMP_NUM_THREADS=6 for each worker (--threads), instead of "
                                       "the value in the environment"));
  const LaunchPlan share =
      plan_for({BindMode::none, kAuto}, {"-n", "1", "p"}, gpus(0), std::nullopt, node);
  EXPECT_EQ(share.omp_num_threads, 16) << "also for one worker";
  EXPECT_THAT(share.notices, ElementsAre("OMP_NUM_THREADS=16 for each worker (16 CPUs, 1 worker)"));
}

TEST(Threads, ANumberNeedsNoWords) {
  EXPECT_THAT(plan_for({BindMode::none, kSix}, {"-n", "2", "p"}, gpus(0)).notices, IsEmpty());
}

TEST(Threads, OtherwiseTheEnvironmentIsKept) {
  Node node = a_bound_node();
  node.omp_num_threads_set = true;
  const LaunchPlan plan = plan_for({}, {"-n", "2", "p"}, gpus(8), std::nullopt, node);
  EXPECT_EQ(plan.omp_num_threads, std::nullopt);
  EXPECT_THAT(plan.notices, IsEmpty());
}

TEST(VirtualLocalRank, EachWorkerHasItsOwnCudaZero) {
  const LaunchPlan two = virtual_plan_of({"-n", "2", "p"}, gpus(8), "5,3");
  EXPECT_THAT(gpu_ids(two), ElementsAre(5, 3));
  EXPECT_THAT(ordinals(two), ElementsAre(0, 0));
  EXPECT_THAT(two.start_line, HasSubstr("rank 0 cuda:0 (GPU 5), rank 1 cuda:0 (GPU 3)"));
  EXPECT_THAT(virtual_plan_of({"-n", "8", "p"}, gpus(8)).start_line,
              HasSubstr("ranks 0-7 cuda:0 each (GPUs 0-7)"));
}

TEST(VirtualLocalRank, PartsOfAGpuServeOneWorkerEach) {
  devices::NodeGpus node = gpus(1);
  for (const char* uuid : {"MIG-b000", "MIG-b001"})
    node.mig_devices.push_back({0, uuid, "0000:10:00.0", "MIG 1g.18gb"});
  const LaunchPlan plan = virtual_plan_of({"p"}, node, "MIG-b000,MIG-b001");
  ASSERT_THAT(plan.workers, SizeIs(2));
  EXPECT_EQ(plan.workers[1].visible_devices, "MIG-b001");
}

TEST(BusyGpus, OnlyThoseOfThePlanAreNamed) {
  devices::NodeGpus node = gpus(4);
  for (devices::Gpu& gpu : node.gpus)
    gpu.processes.push_back({.pid = 100 + gpu.index, .command = "train", .user = "ann"});
  const LaunchPlan plan = plan_of({"-n", "3", "--oversubscribe", "p"}, node, "3,1");
  EXPECT_THAT(plan.notices, ElementsAre(HasSubstr("GPU 3 is busy: pid 103 (train, user ann)"),
                                        HasSubstr("GPU 1 is busy: pid 101")));
}

}  // namespace
}  // namespace ddprun::plan
