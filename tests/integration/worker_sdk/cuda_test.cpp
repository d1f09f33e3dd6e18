// Backend nccl where something is missing, without a GPU: a stand-in is the driver, another the
// plug-in with the CUDA libraries behind it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/integration/support/run.h"
#include "tests/integration/worker_sdk/job.h"

namespace ddp::test {
namespace {

using ddprun::test::TemporaryFolder;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kStandIns = DDPRUN_STAND_INS;

// libddp looks for its plug-in beside itself, so a folder with a link to libddp decides what it
// finds: one of the stand-ins, the real one, or none.
class Nccl : public testing::Test {
 protected:
  Ended run_with(const std::string& plugin, const std::string& scenario, Environment more = {}) {
    namespace fs = std::filesystem;
    fs::create_symlink(DDPRUN_SDK_LIBRARY, folder_ / DDPRUN_SDK_SONAME);
    const std::string link = folder_ / "libddp_nccl.so";
    if (plugin == "real") {
      fs::create_symlink(DDPRUN_NCCL_PLUGIN, link);
    } else if (!plugin.empty()) {
      fs::create_symlink(kStandIns + "/stand_in_" + plugin + "/libddp_nccl.so", link);
    }
    more["DDPRUN_DEVICE"] = "";
    more["LD_LIBRARY_PATH"] = folder_.path() + ":" + kStandIns + "/stand_in_driver";
    return run_ranks(1, scenario, more).at(0);
  }
  TemporaryFolder folder_;
};

TEST_F(Nccl, WithoutAGpuIsRefused) {
  // Not with the stand-in: whatever driver this machine has, it shows no GPU.
  const auto ranks = run_ranks(1, "nccl", {{"CUDA_VISIBLE_DEVICES", ""}});
  EXPECT_EQ(ranks[0].exit_code, 3) << describe(ranks);
  EXPECT_EQ(ranks[0].err,
            "ddp::Error: [rank 0] init_process_group: backend nccl needs a GPU and none is "
            "visible; use gloo\n");
}

TEST_F(Nccl, WithoutThePluginSaysWhereItShouldBe) {
  const Ended end = run_with("", "nccl");
  EXPECT_EQ(end.exit_code, 3) << describe({end});
  EXPECT_EQ(end.err,
            "ddp::Error: [rank 0] init_process_group: backend nccl: this ddp was built without "
            "CUDA: there is no " +
                (folder_ / "libddp_nccl.so") +
                ". Build it where nccl.h, the CUDA headers and a CUDA LibTorch are found\n");
}

// Without a backend named, the program goes on with the CPU.
TEST_F(Nccl, WithoutThePluginTheCpuIsUsedAndThatIsSaid) {
  const Ended end = run_with("", "device_without_a_backend");
  EXPECT_EQ(end.exit_code, 0) << describe({end});
  EXPECT_EQ(end.out, "cpu\n");
  EXPECT_THAT(end.err, StartsWith("ddp: the GPUs of this node are not used: this ddp was built "
                                  "without CUDA"));
}

TEST_F(Nccl, LibrariesThatAWheelLacksAreNamed) {
  const Ended end = run_with("thin", "nccl");
  EXPECT_EQ(end.exit_code, 3) << describe({end});
  EXPECT_THAT(end.err, StartsWith("ddp::Error: [rank 0] init_process_group: backend nccl: the CUDA "
                                  "libraries could not be loaded, for libddp_test_absent.so"));
  EXPECT_THAT(end.err,
              HasSubstr(" cannot be found. They come with torch's own dependencies, which pip "
                        "install --no-deps leaves out"));
}

TEST_F(Nccl, AfterLibTorchWasUsedIsTooLate) {
  const Ended end = run_with("plugin", "nccl_after_torch");
  EXPECT_EQ(end.exit_code, 3) << describe({end});
  EXPECT_EQ(end.err,
            "ddp::Error: [rank 0] init_process_group: backend nccl: LibTorch was used before CUDA "
            "was loaded: call ddp::init_process_group() or ddp::local_device() first in main\n");
}

TEST_F(Nccl, AnUnusableDriverIsNotTakenForThat) {
  const Ended end = run_with("plugin", "nccl", {{"STAND_IN_GPUS", "0"}});
  EXPECT_EQ(end.exit_code, 3) << describe({end});
  EXPECT_EQ(end.err,
            "ddp::Error: [rank 0] init_process_group: backend nccl: the driver shows 1 GPU, but "
            "CUDA can use none of them: the stand-in's driver is too old\n");
}

TEST_F(Nccl, AHeaderOfAnotherVersionIsRefused) {
  const Ended end = run_with("plugin", "nccl", {{"STAND_IN_NCCL", "23007"}});
  EXPECT_EQ(end.exit_code, 3) << describe({end});
  EXPECT_EQ(end.err,
            "ddp::Error: [rank 0] init_process_group: backend nccl: libddp_nccl.so was built with "
            "the header of NCCL 2.28.9 but LibTorch uses NCCL 2.30.7: build it with that header\n");
}

TEST_F(Nccl, WhatTheBackendSaysReachesTheUser) {
  const Ended end = run_with("plugin", "nccl");
  EXPECT_EQ(end.exit_code, 3) << describe({end});
  EXPECT_THAT(end.err, HasSubstr("[rank 0] init_process_group"));
  EXPECT_THAT(end.err, HasSubstr("the stand-in has no communicator for 0 of 1 in group 0"));
}

// The real libtorch_cuda, where there is one: it either lacks libraries or finds no real driver.
TEST_F(Nccl, TheRealPluginSaysWhyItCannotBeUsed) {
  if (std::string(DDPRUN_NCCL_PLUGIN).empty()) GTEST_SKIP() << "built without CUDA: NOT tried";
  const Ended end = run_with("real", "nccl");
  EXPECT_EQ(end.exit_code, 3) << describe({end});
  EXPECT_THAT(end.err, AnyOf(HasSubstr(" cannot be found. They come with torch's own dependencies"),
                             HasSubstr("but CUDA can use none of them: Found no NVIDIA driver")));
  EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
}

TEST(CpuRun, LoadsNoCuda) {
  const auto ranks = run_ranks(2, "cuda_libraries");
  for (const Ended& each : ranks) {
    EXPECT_EQ(each.exit_code, 0) << describe(ranks);
    EXPECT_EQ(each.out, "libtorch_cpu: 1\n");
  }
}

}  // namespace
}  // namespace ddp::test
