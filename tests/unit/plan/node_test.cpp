// What is asked of a node: CPUs, cgroups, and GPUs only where somebody wants them.
#include "launcher/plan/node.h"

#include <gmock/gmock.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "tests/unit/plan/planning.h"

namespace ddprun::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Cgroup, ReadsBothVersions) {
  EXPECT_EQ(cpu_max_limit("150000 100000\n"), 1.5);
  EXPECT_EQ(cpu_max_limit("max 100000\n"), std::nullopt);
  EXPECT_EQ(cpu_max_limit(""), std::nullopt);
  EXPECT_EQ(cpu_max_limit("100000 0\n"), std::nullopt);
  EXPECT_EQ(cfs_limit("400000\n", "100000\n"), 4.0);
  EXPECT_EQ(cfs_limit("-1\n", "100000\n"), std::nullopt);
  EXPECT_EQ(cfs_limit("", ""), std::nullopt);
}

TEST(Cgroup, LimitsOfAllFoldersAboveCount) {
  const CgroupFolders v2 = cgroup_folders("0::/user.slice/job_7\n");
  EXPECT_THAT(v2.v2, ElementsAre("/user.slice/job_7", "/user.slice", ""));
  EXPECT_THAT(v2.v1, IsEmpty());
  const CgroupFolders v1 =
      cgroup_folders("5:cpuset:/a\n4:cpu,cpuacct:/docker/x\n3:cpuacct2:/b\n1:name=systemd:/c\n");
  EXPECT_THAT(v1.v1, ElementsAre("/docker/x", "/docker", ""));
  EXPECT_THAT(v1.v2, IsEmpty());
  EXPECT_THAT(cgroup_folders("0::/\n").v2, ElementsAre(""));
  EXPECT_THAT(cgroup_folders("0::no/path\n").v2, ElementsAre(""));
  EXPECT_THAT(cgroup_folders("0::/../../outside\n").v2, ElementsAre(""));
  EXPECT_THAT(cgroup_folders("nonsense").v2, IsEmpty());
}

TEST(Node, CountsTheCpusOfTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(allowed_cpus(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(allowed_cpus(), 1);
  EXPECT_LE(allowed_cpus(), CPU_COUNT(&before));
}

TEST(Node, ReadsTheEnvironment) {
  const Node plain = this_node(cli::Environment());
  EXPECT_EQ(plain.python, "python3");
  EXPECT_FALSE(plain.omp_num_threads_set);
  EXPECT_FALSE(plain.host.empty());
  EXPECT_EQ(plain.host.find('.'), std::string::npos);
  const Node set =
      this_node(cli::Environment(Words{"PYTHON_EXEC=/opt/python", "OMP_NUM_THREADS=4"}));
  EXPECT_EQ(set.python, "/opt/python");
  EXPECT_TRUE(set.omp_num_threads_set);
}

// The stand-in for the driver writes down that it was loaded.
class Driver : public ::testing::Test {
 protected:
  Driver() : trace_(::testing::TempDir() + "driver_trace." + std::to_string(getpid())) {
    std::filesystem::remove(trace_);
    setenv("NVML_STUB_GPUS", "4", 1);
    setenv("NVML_STUB_TRACE", trace_.c_str(), 1);
  }
  ~Driver() override {
    unsetenv("NVML_STUB_GPUS");
    unsetenv("NVML_STUB_TRACE");
    std::filesystem::remove(trace_);
  }
  devices::NodeGpus ask(const Words& words) const {
    return node_gpus(job_of(words), cli::Environment(Words{"DDPRUN_NVML=" DDPRUN_NVML_STUB}));
  }
  bool was_asked() const { return std::filesystem::exists(trace_); }

 private:
  std::string trace_;
};

TEST_F(Driver, IsAskedWhenGpusMayBeWanted) {
  EXPECT_THAT(ask({"-n", "2", "p"}).gpus, SizeIs(4));
  EXPECT_TRUE(was_asked());
}

TEST_F(Driver, IsLeftAloneWhenNobodyWantsGpus) {
  EXPECT_THAT(ask({"--device", "cpu", "p"}).gpus, IsEmpty());
  EXPECT_THAT(ask({"-n", "cpu", "p"}).gpus, IsEmpty());
  EXPECT_THAT(ask({"--simulate-gpus", "2", "p"}).gpus, SizeIs(2));
  EXPECT_FALSE(was_asked());
}

TEST_F(Driver, AMissingLibraryIsNamed) {
  const auto gpus =
      node_gpus(job_of({"p"}), cli::Environment(Words{"DDPRUN_NVML=/nonexistent.so"}));
  EXPECT_THAT(gpus.remark, HasSubstr("/nonexistent.so"));
}

TEST(Visible, TakesListAndOrderFromTheEnvironment) {
  devices::NodeGpus mixed = gpus(4);
  mixed.gpus[1].name = "NVIDIA L4";
  const Words list{"CUDA_VISIBLE_DEVICES=2,3"};
  EXPECT_THAT(visible_gpus({}, mixed, cli::Environment(list)).gpus, SizeIs(2));
  EXPECT_THAT(visible_gpus({}, mixed, cli::Environment(list)).warnings, SizeIs(1));
  EXPECT_THAT(
      visible_gpus({}, mixed, cli::Environment(Words{list[0], "CUDA_DEVICE_ORDER=PCI_BUS_ID"}))
          .warnings,
      IsEmpty());
  EXPECT_FALSE(visible_gpus({}, mixed, cli::Environment()).list_given);
}

}  // namespace
}  // namespace ddprun::plan
