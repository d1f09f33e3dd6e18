#include "worker_sdk/src/worker_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ddp/error.h"
#include "tests/unit/worker_sdk/environment_of.h"

namespace ddp::detail {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Variables = std::map<std::string, std::string>;

const Variables kComplete = {
    {"RANK", "1"}, {"WORLD_SIZE", "3"}, {"MASTER_ADDR", "node0"}, {"MASTER_PORT", "29500"}};

Variables with(const std::string& name, const std::string& value) {
  Variables changed = kComplete;
  changed[name] = value;
  return changed;
}

std::string refusal(const Variables& variables, int rank = -1, int world_size = -1) {
  return error_of([&] { read_worker_environment(environment_of(variables), rank, world_size); });
}

TEST(WorkerEnvironment, IsReadWhereItIsComplete) {
  const auto read = read_worker_environment(environment_of(kComplete), -1, -1);
  EXPECT_EQ(read.rank, 1);
  EXPECT_EQ(read.world_size, 3);
  EXPECT_EQ(read.master_addr, "node0");
  EXPECT_EQ(read.master_port, 29500);
  EXPECT_FALSE(read.agent_store);
}

TEST(WorkerEnvironment, TheLaunchersStoreIsUsedOnTheExactWordOnly) {
  const auto agent_store = [](const char* value) {
    const auto variables = with("TORCHELASTIC_USE_AGENT_STORE", value);
    return read_worker_environment(environment_of(variables), -1, -1).agent_store;
  };
  EXPECT_TRUE(agent_store("True"));
  for (const char* other : {"true", "1", "False", ""}) EXPECT_FALSE(agent_store(other)) << other;
}

TEST(WorkerEnvironment, OptionsReplaceRankAndWorldSize) {
  const auto read = read_worker_environment(environment_of(kComplete), 4, 5);
  EXPECT_EQ(read.rank, 4);
  EXPECT_EQ(read.world_size, 5);
}

TEST(WorkerEnvironment, APlaceOnTheNodeThatCannotBeIsRefused) {
  const auto said = [](const char* local_rank, const char* local_world_size) {
    Variables variables = with("LOCAL_RANK", local_rank);
    variables["LOCAL_WORLD_SIZE"] = local_world_size;
    return refusal(variables);
  };
  EXPECT_EQ(said("1", "2"), "nothing was thrown");
  EXPECT_THAT(said("-1", "2"), HasSubstr("LOCAL_RANK=-1 is not a rank"));
  EXPECT_THAT(said("2", "2"), HasSubstr("LOCAL_RANK=2 does not exist with LOCAL_WORLD_SIZE=2"));
  EXPECT_THAT(said("0", "0"), HasSubstr("LOCAL_WORLD_SIZE=0 is not a number of ranks"));
  EXPECT_THAT(said("0", "4"),
              HasSubstr("LOCAL_WORLD_SIZE=4 is more than the 3 of the whole world"));
}

TEST(WorkerEnvironment, EverythingMissingIsSaidAtOnceWithTheWayToStart) {
  EXPECT_EQ(
      refusal({}),
      "init_process_group: RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are not set. Start the "
      "program with a launcher: ddprun -n 2 PROGRAM, or torchrun --nproc-per-node 2 --no-python "
      "PROGRAM. By hand, set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT for each process.");
}

TEST(WorkerEnvironment, EmptyMeansMissing) {
  EXPECT_THAT(refusal(with("MASTER_ADDR", "")), HasSubstr("MASTER_ADDR is not set. Start"));
}

TEST(WorkerEnvironment, MissingAndWrongAreOneError) {
  Variables variables = with("MASTER_PORT", "abc");
  variables.erase("WORLD_SIZE");
  EXPECT_THAT(refusal(variables),
              StartsWith("[rank 1] init_process_group: WORLD_SIZE is not set, and "
                         "MASTER_PORT=abc is not a port (1 to 65535). "));
}

TEST(WorkerEnvironment, ContradictionsAreRefused) {
  EXPECT_THAT(
      refusal(with("RANK", "3")),
      StartsWith("[rank 3] init_process_group: rank 3 does not exist in a world of 3 (0 to 2)."));
  EXPECT_THAT(refusal(kComplete, 1, 0), HasSubstr("a world size of 0 has no ranks"));
  EXPECT_THAT(refusal(kComplete, 7, -1), HasSubstr("rank 7 does not exist"));
}

TEST(WorkerEnvironment, OnlyWholeNumbersInRangeAreNumbers) {
  for (const char* bad : {"-1", "1x", "1.0", " 1", "99999999999"}) {
    EXPECT_THAT(refusal(with("RANK", bad)),
                HasSubstr("RANK=" + std::string(bad) + " is not a rank"));
  }
  for (const char* bad : {"0", "-4", "two"}) {
    EXPECT_THAT(refusal(with("WORLD_SIZE", bad)), HasSubstr("is not a number of ranks")) << bad;
  }
  for (const char* bad : {"0", "65536", "-1"}) {
    EXPECT_THAT(refusal(with("MASTER_PORT", bad)), HasSubstr("is not a port")) << bad;
  }
}

TEST(IntegerVariable, FallsBackOnlyIfThereIsNothing) {
  const Lookup lookup =
      environment_of({{"LOCAL_RANK", "2"}, {"EMPTY", ""}, {"RANK", "6"}, {"BAD", "2a"}});
  EXPECT_EQ(integer_variable(lookup, "LOCAL_RANK", 0), 2);
  EXPECT_EQ(integer_variable(lookup, "EMPTY", 7), 7);
  EXPECT_EQ(integer_variable(lookup, "NOT_THERE", 7), 7);
  EXPECT_EQ(error_of([&] { integer_variable(lookup, "BAD", 0); }),
            "[rank 6] BAD=2a is not a number");
}

TEST(Error, CarriesTheRankIfItIsKnown) {
  EXPECT_EQ(Error(3, "lost").rank(), 3);
  EXPECT_STREQ(Error(3, "lost").what(), "[rank 3] lost");
  EXPECT_STREQ(Error(-1, "lost").what(), "lost");
}

}  // namespace
}  // namespace ddp::detail
