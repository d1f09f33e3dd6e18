// Workers that run where they were put, seen by what they say themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

const std::string kStub = DDPRUN_NVML_STUB;
const std::string kTellCpus = "sed -n 's/^Cpus_allowed_list:\\t/cpus /p' /proc/self/status";

// The first CPUs that the tests may run on.
std::vector<int> cpus() {
  std::vector<int> found;
  cpu_set_t mask;
  EXPECT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &mask)) found.push_back(cpu);
  return found;
}

std::string first_cpu() {
  return std::to_string(cpus().front());
}

std::vector<std::string> shell(std::vector<std::string> options, const std::string& script) {
  options.insert(options.end(), {"sh", "-c", script});
  return options;
}

#ifdef DDPRUN_HAS_HWLOC

// A node with 64 CPUs, 16 at each of four NUMA nodes, and eight GPUs, number k at node k / 2.
class NodeOfEight {
 public:
  NodeOfEight() {
    for (int gpu = 0; gpu < 8; ++gpu) {
      char address[32];
      std::snprintf(address, sizeof address, "0000:%02x:00.0", gpu + 16);
      const std::string device = sysfs_ / ("bus/pci/devices/" + std::string(address));
      std::filesystem::create_directories(device);
      std::ofstream(device + "/numa_node") << gpu / 2 << "\n";
    }
  }
  std::vector<std::string> environment(std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"DDPRUN_NVML=" + kStub, "NVML_STUB_GPUS=8",
                             "HWLOC_SYNTHETIC=pack:2 numa:2 l3:2 core:4 pu:2",
                             "DDPRUN_SYSFS=" + sysfs_.path()});
    return more;
  }

 private:
  TemporaryFolder sysfs_;
};

TEST(BindTest, CpuWorkersGetTheirOwnCores) {
  if (cpus().size() < 2) GTEST_SKIP() << "one CPU cannot be shared out";
  const Finished end =
      ddprun(shell({"-n", "2", "--bind", "cores", "--report-bindings"}, kTellCpus));
  EXPECT_EQ(end.code, 0) << end.err;
  const auto told = lines(end.out);
  ASSERT_THAT(told, SizeIs(2));
  EXPECT_NE(told[0], told[1]);
  EXPECT_THAT(end.err, AllOf(HasSubstr("ddprun: rank 0: CPUs " + first_cpu()),
                             HasSubstr("ddprun: rank 1: CPUs "), HasSubstr(", cpu\n")));
}

TEST(BindTest, TheInheritedMaskIsObeyed) {
  const Finished end = run({"/usr/bin/taskset", "-c", first_cpu(), ddprun_words({}).front(), "-n",
                            "2", "--numa-binding", "node", "sh", "-c", kTellCpus});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(lines(end.out), ElementsAre("cpus " + first_cpu(), "cpus " + first_cpu()));
  EXPECT_THAT(end.err, HasSubstr("--bind node: 2 workers share the 1 core of this process"));
}

TEST(BindTest, TheNodeIsThatOfTheVisibleGpu) {
  const NodeOfEight node;
  const Finished end =
      ddprun({"--dry-run", "--bind", "node", "-n", "2", "--report-bindings", "true"},
             {.environment = node.environment({"CUDA_VISIBLE_DEVICES=7,GPU-a2,2"})});
  EXPECT_EQ(end.code, 2) << "the list is cut, so one GPU is visible";
  const Finished two =
      ddprun({"--dry-run", "--bind", "node", "-n", "2", "--report-bindings", "true"},
             {.environment = node.environment({"CUDA_VISIBLE_DEVICES=GPU-a7,GPU-a2"})});
  EXPECT_EQ(two.code, 0) << two.err;
  EXPECT_THAT(
      two.out,
      AllOf(HasSubstr("rank 0: CPUs 48-63, NUMA node 3, cuda:0, GPU 7 at 0000:17:00.0\n"),
            HasSubstr("rank 1: CPUs 16-31, NUMA node 1, cuda:1, GPU 2 at 0000:12:00.0\n"),
            HasSubstr("     0           0  cuda:0  48-63          3       7  NVIDIA H200")));
}

TEST(BindTest, EveryModeIsPlanned) {
  const NodeOfEight node;
  const auto table = [&](const std::string& mode) {
    const Finished end = ddprun({"--dry-run", "--bind", mode, "-n", "8", "true"},
                                {.environment = node.environment()});
    EXPECT_EQ(end.code, 0) << end.err;
    return end.out;
  };
  EXPECT_THAT(table("socket"), HasSubstr("cuda:7  32-63        2-3"));
  EXPECT_THAT(table("exclusive"), AllOf(HasSubstr("cuda:6  48-55"), HasSubstr("cuda:7  56-63")));
  EXPECT_THAT(table("core-complex"), AllOf(HasSubstr("cuda:0    0-7"), HasSubstr("cuda:1   8-15")));
  EXPECT_THAT(table("cores"), AllOf(HasSubstr("cuda:0    0-7"), HasSubstr("cuda:7  56-63")));
  EXPECT_THAT(table("none"), Not(HasSubstr("NUMA")));
}

// The machine that is described has CPUs that this one lacks.
TEST(BindTest, WhatTheKernelRefusesIsSaidOnceAndStopsNobody) {
  const Finished end = ddprun(shell({"-n", "4", "--bind", "cores", "--device", "cpu"}, "echo runs"),
                              {.environment = {"HWLOC_SYNTHETIC=pack:4 core:128 pu:1"}});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(lines(end.out), AllOf(SizeIs(4), Each("runs")));
  EXPECT_THAT(end.err, HasSubstr("could not be bound to CPUs "));
  EXPECT_EQ(end.err.find("could not be bound"), end.err.rfind("could not be bound")) << end.err;
}

#endif

TEST(BindTest, WithoutTheModuleWorkersRunUnboundAndOneLineSaysSo) {
  const Finished end = ddprun(shell({"-n", "2", "--bind", "node"}, kTellCpus),
                              {.environment = {"DDPRUN_HWLOC=/nonexistent/module.so"}});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(lines(end.out), SizeIs(2));
  EXPECT_THAT(end.err,
              HasSubstr("ddprun: --bind node: the workers are not bound: its module cannot "
                        "be loaded: /nonexistent/module.so"));
}

TEST(CpuCountTest, CountsTheAffinityMask) {
  const Finished end = run({"/usr/bin/taskset", "-c", first_cpu(), ddprun_words({}).front(), "-n",
                            "cpu", "sh", "-c", "echo $WORLD_SIZE"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.out, "1\n");
}

std::vector<std::string> threads_of(const std::vector<std::string>& options,
                                    const std::vector<std::string>& environment = {}) {
  const Finished end =
      ddprun(shell(options, "echo ${OMP_NUM_THREADS-unset}"), {.environment = environment});
  EXPECT_EQ(end.code, 0) << end.err;
  return lines(end.out);
}

TEST(ThreadsTest, AreTheShareUnlessTheUserSaysOtherwise) {
  const std::string share = std::to_string(std::max<std::size_t>(1, cpus().size() / 2));
  EXPECT_THAT(threads_of({"-n", "1"}), ElementsAre("unset"));
  EXPECT_THAT(threads_of({"-n", "2"}, {"OMP_NUM_THREADS=7"}), ElementsAre("7", "7"));
  EXPECT_THAT(threads_of({"-n", "2", "--threads", "5"}, {"OMP_NUM_THREADS=7"}),
              ElementsAre("5", "5"));
  const auto automatic = threads_of({"-n", "2", "--threads", "auto"}, {"OMP_NUM_THREADS=7"});
  EXPECT_THAT(automatic, AllOf(SizeIs(2), Not(testing::Contains("7"))));
}

TEST(VirtualLocalRankTest, EachWorkerSeesItsOwnEntryOnly) {
  const std::string tell =
      "echo $RANK $LOCAL_RANK $LOCAL_WORLD_SIZE $CUDA_VISIBLE_DEVICES $DDPRUN_DEVICE";
  const auto told = [&](const std::vector<std::string>& environment) {
    const Finished end =
        ddprun(shell({"-n", "2", "--virtual-local-rank"}, tell), {.environment = environment});
    EXPECT_EQ(end.code, 0) << end.err;
    return lines(end.out);
  };
  const std::vector<std::string> eight{"DDPRUN_NVML=" + kStub, "NVML_STUB_GPUS=8"};
  auto with_list = eight;
  with_list.push_back("CUDA_VISIBLE_DEVICES=GPU-a6,GPU-a1");
  EXPECT_THAT(told(eight), UnorderedElementsAre("0 0 2 0 cuda:0", "1 0 2 1 cuda:0"));
  EXPECT_THAT(told(with_list), UnorderedElementsAre("0 0 2 GPU-a6 cuda:0", "1 0 2 GPU-a1 cuda:0"));
}

TEST(BusyGpuTest, ItsOwnerIsNamed) {
  Program other({"/bin/sleep", "20"});
  const std::string pid = std::to_string(other.pid());
  const Finished end =
      ddprun({"-n", "2", "true"}, {.environment = {"DDPRUN_NVML=" + kStub, "NVML_STUB_GPUS=4",
                                                   "NVML_STUB_BUSY=1:" + pid + ":70,3:1:5"}});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.err, AllOf(HasSubstr("ddprun: GPU 1 is busy: pid " + pid + " ("),
                             HasSubstr(" holds 70.0 GiB\n"), Not(HasSubstr("GPU 3 is busy"))));
}

}  // namespace
}  // namespace ddprun::test
