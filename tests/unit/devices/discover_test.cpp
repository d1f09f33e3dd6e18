// Discovery through the driver's management library, with a stand-in for it.
#include "launcher/devices/discover.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "launcher/devices/gpu_processes.h"

namespace ddprun::devices {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Describes a node to the stand-in for as long as a test runs.
class Discover : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"GPUS", "NAMES", "MIG", "FAIL", "TRACE", "BUSY"})
      unsetenv((std::string("NVML_STUB_") + name).c_str());
  }
  static void set(const std::string& name, const std::string& value) {
    setenv(("NVML_STUB_" + name).c_str(), value.c_str(), 1);
  }
  static NodeGpus ask() { return discover(DDPRUN_NVML_STUB); }
};

TEST_F(Discover, FindsEightGpus) {
  set("GPUS", "8");
  const NodeGpus node = ask();
  EXPECT_EQ(node.source, Source::nvml);
  EXPECT_EQ(node.remark, "");
  ASSERT_THAT(node.gpus, SizeIs(8));
  EXPECT_EQ(node.gpus[3].index, 3);
  EXPECT_EQ(node.gpus[3].uuid, "GPU-a3000000-1111-2222-3333-444444444444");
  EXPECT_EQ(node.gpus[3].pci_address, "0000:13:00.0");
  EXPECT_EQ(node.gpus[3].name, "NVIDIA H200");
  EXPECT_FALSE(node.gpus[3].divided);
  EXPECT_THAT(node.mig_devices, IsEmpty());
}

TEST_F(Discover, ADriverWithoutGpusIsAnAnswer) {
  const NodeGpus node = ask();
  EXPECT_EQ(node.source, Source::none);
  EXPECT_THAT(node.gpus, IsEmpty());
  EXPECT_EQ(node.remark, "the NVIDIA driver has no GPU");
  EXPECT_FALSE(node.failed);
}

TEST_F(Discover, NoLibraryIsAnAnswer) {
  const NodeGpus node = discover("/nonexistent/libnvidia-ml.so.1");
  EXPECT_EQ(node.source, Source::none);
  EXPECT_THAT(node.gpus, IsEmpty());
  EXPECT_THAT(node.remark, HasSubstr("no NVIDIA driver: /nonexistent/libnvidia-ml.so.1"));
  EXPECT_TRUE(node.failed) << "a library that somebody named is missing";
}

TEST_F(Discover, ALibraryWithoutTheFunctionsIsNoDriver) {
  EXPECT_THAT(discover("libm.so.6").remark, HasSubstr("undefined symbol: nvmlInit_v2"));
}

TEST_F(Discover, FailuresAreRemarksInTheDriversWords) {
  set("GPUS", "2");
  set("FAIL", "init");
  EXPECT_EQ(ask().remark, "the NVIDIA driver does not start: Driver Not Loaded");
  set("FAIL", "count");
  EXPECT_EQ(ask().remark, "the NVIDIA driver does not count its GPUs: Unknown Error");
  set("FAIL", "uuid");
  EXPECT_EQ(ask().remark,
            "GPU 0 does not answer: Unknown Error; GPU 1 does not answer: Unknown Error");
  EXPECT_EQ(ask().source, Source::none);
  EXPECT_TRUE(ask().failed);
}

TEST_F(Discover, OneLostGpuDoesNotHideTheOthers) {
  set("GPUS", "3");
  set("FAIL", "handle:1");
  const NodeGpus node = ask();
  EXPECT_EQ(node.source, Source::nvml);
  ASSERT_THAT(node.gpus, SizeIs(2));
  EXPECT_EQ(node.gpus[1].index, 2);
  EXPECT_EQ(node.remark, "GPU 1 does not answer: GPU is lost");
}

TEST_F(Discover, FindsThePartsOfDividedGpus) {
  set("GPUS", "2");
  set("MIG", "1:3");
  const NodeGpus node = ask();
  ASSERT_THAT(node.gpus, SizeIs(2));
  EXPECT_FALSE(node.gpus[0].divided);
  EXPECT_TRUE(node.gpus[1].divided);
  ASSERT_THAT(node.mig_devices, SizeIs(3));
  EXPECT_EQ(node.mig_devices[2].uuid, "MIG-b1020000-1111-2222-3333-444444444444");
  EXPECT_EQ(node.mig_devices[2].index, 1);
  EXPECT_EQ(node.mig_devices[2].pci_address, "0000:11:00.0");
}

// A process that lives as long as the test and is no ancestor of it.
class Sleeper {
 public:
  Sleeper() : pid_(fork()) {
    if (pid_ == 0) {
      for (;;) pause();
    }
  }
  ~Sleeper() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  std::string pid() const { return std::to_string(pid_); }

 private:
  pid_t pid_;
};

TEST_F(Discover, SaysWhoIsOnAGpuAlready) {
  const Sleeper other;
  set("GPUS", "3");
  set("BUSY", "1:999999999:2,1:" + other.pid() + ":70,2:999999999");
  const NodeGpus node = ask();
  ASSERT_THAT(node.gpus, SizeIs(3));
  EXPECT_THAT(node.gpus[0].processes, IsEmpty());
  EXPECT_EQ(busy_text(node.gpus[0]), "");
  EXPECT_THAT(busy_text(node.gpus[1]), AllOf(HasSubstr("GPU 1 is busy: pid " + other.pid() + " ("),
                                             HasSubstr("devices_test"), HasSubstr(", user "),
                                             EndsWith(") holds 70.0 GiB, and 1 more")));
  EXPECT_EQ(busy_text(node.gpus[2]),
            "GPU 2 is busy: pid 999999999 (not to be seen from here) computes on it");
}

TEST_F(Discover, WhoStartedUsDoesNotMakeAGpuBusy) {
  set("GPUS", "1");
  set("BUSY", "0:" + std::to_string(getpid()) + ":1,0:" + std::to_string(getppid()) + ":1");
  EXPECT_THAT(ask().gpus.at(0).processes, IsEmpty());
}

TEST(BusyText, AnOrphanIsCalledOne) {
  Gpu gpu;
  gpu.processes.push_back({.pid = 7, .command = "train", .user = "ann", .orphan = true});
  EXPECT_EQ(busy_text(gpu),
            "GPU 0 is busy: pid 7 (train, user ann, left behind by its parent) computes on it");
}

TEST_F(Discover, LeavesNothingLoaded) {
  const std::string path = ::testing::TempDir() + "nvml_trace." + std::to_string(getpid());
  set("GPUS", "1");
  set("TRACE", path);
  ask();
  ask();
  std::ifstream file(path);
  const std::string trace(std::istreambuf_iterator<char>(file), {});
  std::filesystem::remove(path);
  // Loaded twice: the first time was over when it was asked again.
  EXPECT_EQ(trace, "load\ninit\nshutdown\nload\ninit\nshutdown\n");
}

TEST_F(Discover, SimulatedGpusHaveNoAddresses) {
  const NodeGpus node = simulate(2);
  EXPECT_EQ(node.source, Source::simulated);
  ASSERT_THAT(node.gpus, SizeIs(2));
  EXPECT_EQ(node.gpus[1].index, 1);
  EXPECT_EQ(node.gpus[1].uuid, "");
  EXPECT_EQ(node.gpus[1].name, "simulated GPU");
  EXPECT_THAT(simulate(0).gpus, IsEmpty());
}

}  // namespace
}  // namespace ddprun::devices
