// Readers of what the kernel, the driver and Python say.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "launcher/devices/discover.h"
#include "launcher/doctor/gpu_records.h"
#include "launcher/doctor/look_network.h"
#include "launcher/doctor/look_software.h"
#include "launcher/doctor/read_amounts.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::doctor {
namespace {

using Words = std::vector<std::string>;
using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

void write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

TEST(AmountsTest, AvailableMemoryIsInBytes) {
  EXPECT_EQ(available_memory("MemTotal: 9 kB\nMemAvailable:   12 kB\n"), 12u * 1024);
  EXPECT_EQ(available_memory("MemTotal: 9 kB\n"), std::nullopt);
}

TEST(AmountsTest, TheLowestLimitCountsAndTheOwnUse) {
  const TemporaryFolder root;
  write(root / "memory.max", "max\n");
  write(root / "a/memory.max", "1000\n");
  write(root / "a/b/memory.max", "2000\n");
  write(root / "a/b/memory.current", "500\n");
  write(root / "a/pids.max", "99\n");
  write(root / "a/b/pids.max", "max\n");
  write(root / "a/b/pids.current", "7\n");
  const Amount memory = cgroup_memory("0::/a/b\n", root.path());
  EXPECT_EQ(memory.limit, 1000u);
  EXPECT_EQ(memory.used, 500u);
  write(root / "a/b/memory.max", "700\n");
  EXPECT_EQ(cgroup_memory("0::/a/b\n", root.path()).limit, 700u);
  const Amount processes = cgroup_processes("0::/a/b\n", root.path());
  EXPECT_EQ(processes.limit, 99u);
  EXPECT_EQ(processes.used, 7u);
  EXPECT_EQ(cgroup_processes("0::/\n", "/nonexistent").limit, std::nullopt);
}

TEST(AmountsTest, OfTheOldHierarchyAsWell) {
  const TemporaryFolder root;
  write(root / "pids/x/pids.max", "50\n");
  write(root / "pids/x/pids.current", "3\n");
  const Amount processes = cgroup_processes("5:pids:/x\n4:memory:/x\n", root.path());
  EXPECT_EQ(processes.limit, 50u);
  EXPECT_EQ(processes.used, 3u);
}

TEST(AmountsTest, SettingsHaveNoSecrets) {
  const cli::Environment environment(
      Words{"NCCL_DEBUG=INFO", "PET_TOKEN=x", "RDZV_TOKEN=y", "HOME=/", "OMP_NUM_THREADS=4"});
  EXPECT_THAT(settings(environment), ElementsAre("NCCL_DEBUG=INFO", "OMP_NUM_THREADS=4"));
}

TEST(SoftwareTest, DriversOfBothKindsAreRead) {
  EXPECT_EQ(
      driver_version("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun 6\n"),
      "535.54.03");
  EXPECT_EQ(driver_version("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  R\n"
                           "GCC version:  gcc version 12.2.0\n"),
            "580.65.06");
  EXPECT_EQ(driver_version(""), "");
}

TEST(SoftwareTest, NcclCountsInTwoWays) {
  EXPECT_EQ(nccl_version(22809), "2.28.9");
  EXPECT_EQ(nccl_version(2708), "2.7.8");
}

TEST(SoftwareTest, TorchIsReadAsItsLinesCome) {
  const Torch torch =
      read_torch("folder\t/a/torch\nversion\t2.11.0+cu130\ncuda\t13.0\nnccl\t2.28.9\n");
  EXPECT_EQ(torch.version, "2.11.0+cu130");
  EXPECT_EQ(torch.cuda, "13.0");
  EXPECT_EQ(torch.nccl, "2.28.9");
  EXPECT_EQ(torch.folder, "/a/torch");
  EXPECT_EQ(read_torch("").version, "");
}

TEST(SoftwareTest, LibTorchIsFoundByItsFolderOrItsLibraries) {
  const TemporaryFolder folder;
  write(folder / "build-version", "2.11.0+cpu\n");
  write(folder / "lib/empty", "");
  EXPECT_EQ(libtorch_alone(cli::Environment(Words{"Torch_ROOT=" + folder.path()})).version,
            "2.11.0+cpu");
  EXPECT_EQ(
      libtorch_alone(cli::Environment(Words{"LD_LIBRARY_PATH=/x:" + (folder / "lib")})).version,
      "2.11.0+cpu");
  EXPECT_EQ(libtorch_alone(cli::Environment(Words{})).version, "");
}

TEST(GpuRecordsTest, NothingIsLostOnTheWay) {
  devices::NodeGpus gpus = devices::simulate(2);
  gpus.source = devices::Source::nvml;
  gpus.remark = "GPU 2 does not answer\n";
  gpus.failed = true;
  gpus.gpus[1].uuid = "GPU-1";
  gpus.gpus[1].divided = true;
  gpus.gpus[1].processes = {{.pid = 7, .memory = 5ULL << 33, .command = "a \"b\"", .user = "ann"},
                            {.pid = 8, .orphan = true}};
  gpus.mig_devices = {{.index = 1, .uuid = "MIG-2"}};
  const auto read = read_gpu_records(gpu_records(gpus));
  ASSERT_TRUE(read);
  EXPECT_EQ(gpu_records(*read), gpu_records(gpus));
  EXPECT_EQ(read->gpus[1].processes[0].memory, 5ULL << 33);
  EXPECT_EQ(read->gpus[1].processes[1].memory, std::nullopt);
  EXPECT_EQ(read->mig_devices[0].uuid, "MIG-2");
  EXPECT_EQ(read_gpu_records("{\"source\":1"), std::nullopt);
  EXPECT_EQ(read_gpu_records(""), std::nullopt);
}

TEST(FirewallTest, OnlyAChainThatDropsWhatComesInCounts) {
  EXPECT_TRUE(
      drops_incoming("table inet filter {\n\tchain input {\n\t\ttype filter hook input "
                     "priority filter; policy drop;\n"));
  EXPECT_FALSE(
      drops_incoming("\t\ttype filter hook input priority filter; policy accept;\n"
                     "\t\ttype filter hook forward priority filter; policy drop;\n"));
  EXPECT_THAT(drops_incoming(""), false);
}

}  // namespace
}  // namespace ddprun::doctor
