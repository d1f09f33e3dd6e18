#include "worker_sdk/src/spawn_environment.h"

#include <gmock/gmock.h>

namespace ddp::detail {
namespace {

using testing::Contains;
using testing::Not;
using testing::StartsWith;
using Entries = std::vector<std::string>;

constexpr SpawnPlace kPlace{.rank = 1, .world_size = 3, .port = 1234, .cpus = 8};

TEST(SpawnEnvironment, IsThatOfALauncherOnOneNode) {
  const auto entries = spawn_environment({"PATH=/bin"}, kPlace);
  for (const char* entry :
       {"PATH=/bin", "RANK=1", "LOCAL_RANK=1", "WORLD_SIZE=3", "LOCAL_WORLD_SIZE=3", "GROUP_RANK=0",
        "MASTER_ADDR=127.0.0.1", "MASTER_PORT=1234", "TORCHELASTIC_USE_AGENT_STORE=True",
        "OMP_NUM_THREADS=2"}) {
    EXPECT_THAT(entries, Contains(entry));
  }
}

TEST(SpawnEnvironment, WhatALauncherToldTheParentIsGone) {
  const auto entries = spawn_environment(
      {"RANK=7", "MASTER_PORT=9", "TORCHELASTIC_ERROR_FILE=/e", "ROLE_RANK=7", "DDP_SPAWN=1 2 3 4",
       "ROLE_NAME=default", "ROLE_WORLD_SIZE=9", "DDPRUN_PROGRESS_FD=5", "DDPRUN_DEVICE=cuda:1",
       "LOCAL_FILES=stay", "ROLE_ARN=mine"},
      kPlace);
  for (const char* entry :
       {"RANK=7", "MASTER_PORT=9", "TORCHELASTIC_ERROR_FILE=/e", "ROLE_RANK=7", "ROLE_NAME=default",
        "ROLE_WORLD_SIZE=9", "DDP_SPAWN=1 2 3 4", "DDPRUN_PROGRESS_FD=5", "DDPRUN_DEVICE=cuda:1"}) {
    EXPECT_THAT(entries, Not(Contains(entry)));
  }
  EXPECT_THAT(entries, Contains("LOCAL_FILES=stay"));
  EXPECT_THAT(entries, Contains("ROLE_ARN=mine"));
}

TEST(SpawnEnvironment, WishesForEveryProcessStay) {
  const auto entries = spawn_environment(
      {"DDPRUN_DEVICE=cpu", "DDPRUN_SIMULATED_GPUS=4", "OMP_NUM_THREADS=5"}, kPlace);
  EXPECT_THAT(entries, Contains("DDPRUN_DEVICE=cpu"));
  EXPECT_THAT(entries, Contains("DDPRUN_SIMULATED_GPUS=4"));
  EXPECT_THAT(entries, Contains(StartsWith("OMP_NUM_THREADS=")).Times(1));
}

TEST(SpawnEnvironment, ThereIsAThreadForEachEvenOnFewCpus) {
  EXPECT_THAT(spawn_environment({}, {.world_size = 4, .cpus = 2}), Contains("OMP_NUM_THREADS=1"));
}

}  // namespace
}  // namespace ddp::detail
