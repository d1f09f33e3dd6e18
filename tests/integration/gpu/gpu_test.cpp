// tests/gpu/run.sh on a machine without a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;

Finished run_gpu_checks(std::vector<std::string> words) {
  words.insert(words.begin(), {"/bin/bash", DDPRUN_GPU_RUN});
  return run(words, {.environment = {"OMP_NUM_THREADS=1"}, .limit = std::chrono::seconds(180)});
}

TEST(GpuChecks, AreSkippedWithoutAGpuAndThatIsSaid) {
  if (std::filesystem::exists("/dev/nvidia0")) GTEST_SKIP() << "there is a GPU here";
  const Finished end = run_gpu_checks({});
  EXPECT_EQ(end.code, 77) << end.err;
  EXPECT_THAT(end.out, HasSubstr("skipped, there is no GPU here"));
  EXPECT_THAT(end.out, HasSubstr("nothing was checked"));
}

TEST(GpuChecks, RunOnTheCpuToo) {
  const Finished end =
      run_gpu_checks({"--on-cpu", "--prebuilt", DDPRUN_BUILD_FOLDER, "--torch-root", TORCH_FOLDER});
  EXPECT_EQ(end.code, 0) << end.out << end.err;
  EXPECT_THAT(end.out, HasSubstr("cpu: 7 passed, 0 failed")) << end.err;
}

TEST(GpuChecks, WhatIsMissingIsNamed) {
  const Finished end = run_gpu_checks({"--on-cpu", "--torch-root", "/nowhere"});
  EXPECT_EQ(end.code, 2);
  EXPECT_THAT(end.err, HasSubstr("no LibTorch in '/nowhere'"));
  const Finished unbuilt =
      run_gpu_checks({"--on-cpu", "--prebuilt", "/nowhere", "--torch-root", TORCH_FOLDER});
  EXPECT_EQ(unbuilt.code, 2);
  EXPECT_THAT(unbuilt.err, HasSubstr("/nowhere/bin/ddprun is missing"));
}

}  // namespace
}  // namespace ddprun::test
