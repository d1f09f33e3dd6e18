#include "worker_sdk/src/device_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/worker_sdk/environment_of.h"

namespace ddp::detail {
namespace {

using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

std::function<UsableGpus()> gpus(int count, const std::string& why_none = "") {
  return [=] { return UsableGpus{count, why_none}; };
}

UsableGpus must_not_be_asked() {
  ADD_FAILURE() << "the GPUs were counted";
  return {};
}

std::string described(const Variables& variables, const std::function<UsableGpus()>& usable_gpus) {
  return describe(choose_device(environment_of(variables), usable_gpus));
}

std::string refusal(const Variables& variables, const std::function<UsableGpus()>& usable_gpus) {
  return error_of([&] { choose_device(environment_of(variables), usable_gpus); });
}

TEST(DeviceChoice, IsTheCpuWhereThereAreNoGpus) {
  EXPECT_EQ(described({{"LOCAL_RANK", "1"}}, gpus(0)), "cpu");
}

TEST(DeviceChoice, IsTheGpuOfTheLocalRank) {
  EXPECT_EQ(described({{"LOCAL_RANK", "1"}}, gpus(2)), "cuda:1 (GPU 1)");
  EXPECT_EQ(described({}, gpus(1)), "cuda:0 (GPU 0)");
}

TEST(DeviceChoice, TheLocalRankIsNotTheGpuId) {
  const Variables variables = {{"LOCAL_RANK", "1"}, {"CUDA_VISIBLE_DEVICES", "3, GPU-5f2c ,1"}};
  const DeviceChoice choice = choose_device(environment_of(variables), gpus(3));
  EXPECT_TRUE(choice.cuda);
  EXPECT_EQ(choice.ordinal, 1);
  EXPECT_EQ(choice.gpu_id, "GPU-5f2c");
}

TEST(DeviceChoice, TheLauncherDecides) {
  EXPECT_EQ(described({{"DDPRUN_DEVICE", "cpu"}, {"LOCAL_RANK", "1"}}, must_not_be_asked), "cpu");
  EXPECT_EQ(described({{"DDPRUN_DEVICE", "cuda:0"}, {"LOCAL_RANK", "1"}}, gpus(2)),
            "cuda:0 (GPU 0)");
  EXPECT_EQ(described({{"DDPRUN_DEVICE", "cuda"}, {"LOCAL_RANK", "1"}}, gpus(2)), "cuda:1 (GPU 1)");
}

TEST(DeviceChoice, SimulatedGpusAreTheCpu) {
  const Variables variables = {{"DDPRUN_SIMULATED_GPUS", "8"},
                               {"DDPRUN_DEVICE", "cuda:2"},
                               {"CUDA_VISIBLE_DEVICES", "1,2,3,4"},
                               {"LOCAL_RANK", "2"}};
  const DeviceChoice choice = choose_device(environment_of(variables), must_not_be_asked);
  EXPECT_FALSE(choice.cuda);
  EXPECT_EQ(choice.gpu_id, "3");
  EXPECT_EQ(describe(choice), "cpu (simulates cuda:2, GPU 3)");
}

TEST(DeviceChoice, NoSimulatedGpusAreNoSimulation) {
  EXPECT_EQ(described({{"DDPRUN_SIMULATED_GPUS", "0"}}, gpus(0)), "cpu");
  EXPECT_EQ(
      described({{"DDPRUN_SIMULATED_GPUS", "8"}, {"DDPRUN_DEVICE", "cpu"}}, must_not_be_asked),
      "cpu");
}

TEST(DeviceChoice, SimulatedGpusAreAWholeNumber) {
  for (const char* bad : {"abc", "8x", " 8", "1.5"}) {
    EXPECT_EQ(refusal({{"DDPRUN_SIMULATED_GPUS", bad}, {"RANK", "1"}}, must_not_be_asked),
              "[rank 1] DDPRUN_SIMULATED_GPUS=" + std::string(bad) + " is not a number");
  }
  EXPECT_EQ(refusal({{"DDPRUN_SIMULATED_GPUS", "-2"}}, must_not_be_asked),
            "DDPRUN_SIMULATED_GPUS=-2 is not a number of GPUs; 0 means no simulation");
}

TEST(DeviceChoice, ASimulatedGpuThatDoesNotExistIsRefused) {
  EXPECT_EQ(refusal({{"DDPRUN_SIMULATED_GPUS", "1"}, {"LOCAL_RANK", "1"}}, must_not_be_asked),
            "local_device: cuda:1 does not exist, 1 GPU is usable: DDPRUN_SIMULATED_GPUS=1. Start "
            "at most as many processes on this node as it has GPUs, or use the CPU with "
            "DDPRUN_DEVICE=cpu.");
  const Variables listed = {
      {"DDPRUN_SIMULATED_GPUS", "8"}, {"CUDA_VISIBLE_DEVICES", "1,2"}, {"LOCAL_RANK", "2"}};
  EXPECT_THAT(refusal(listed, must_not_be_asked),
              HasSubstr("cuda:2 does not exist, 2 GPUs are usable (CUDA_VISIBLE_DEVICES=1,2): "
                        "DDPRUN_SIMULATED_GPUS=8."));
  const Variables few = {
      {"DDPRUN_SIMULATED_GPUS", "1"}, {"CUDA_VISIBLE_DEVICES", "1,2"}, {"DDPRUN_DEVICE", "cuda:1"}};
  EXPECT_THAT(refusal(few, must_not_be_asked), HasSubstr("1 GPU is usable"));
}

TEST(DeviceChoice, AnEmptyListHidesSimulatedGpusToo) {
  Variables variables = {{"DDPRUN_SIMULATED_GPUS", "8"}, {"CUDA_VISIBLE_DEVICES", ""}};
  EXPECT_EQ(described(variables, must_not_be_asked), "cpu");
  variables["DDPRUN_DEVICE"] = "cuda:0";
  EXPECT_THAT(refusal(variables, must_not_be_asked),
              HasSubstr("no GPU is usable: DDPRUN_SIMULATED_GPUS=8."));
}

TEST(DeviceChoice, TooManyRanksForTheGpusAreRefused) {
  EXPECT_EQ(
      refusal({{"LOCAL_RANK", "4"}, {"RANK", "9"}, {"CUDA_VISIBLE_DEVICES", "1,2,3,4"}}, gpus(4)),
      "[rank 9] local_device: cuda:4 does not exist, 4 GPUs are usable "
      "(CUDA_VISIBLE_DEVICES=1,2,3,4). Start at most as many processes on this node as it has "
      "GPUs, or use the CPU with DDPRUN_DEVICE=cpu.");
}

TEST(DeviceChoice, ANegativeLocalRankIsNotTheCpu) {
  EXPECT_EQ(refusal({{"LOCAL_RANK", "-1"}}, gpus(4)), "LOCAL_RANK=-1 is not a rank");
}

TEST(DeviceChoice, ANamedGpuIsNotReplacedByTheCpu) {
  EXPECT_THAT(refusal({{"DDPRUN_DEVICE", "cuda:0"}}, gpus(0, "built without CUDA")),
              HasSubstr("cuda:0 does not exist, no GPU is usable: built without CUDA. Start"));
}

TEST(DeviceChoice, OtherTextIsNoDevice) {
  for (const char* bad : {"gpu", "cuda:", "cuda:-1", "cuda:1x", "CPU"}) {
    EXPECT_EQ(refusal({{"DDPRUN_DEVICE", bad}}, must_not_be_asked),
              "DDPRUN_DEVICE=" + std::string(bad) + " is not a device; expected cpu or cuda:K");
  }
}

}  // namespace
}  // namespace ddp::detail
