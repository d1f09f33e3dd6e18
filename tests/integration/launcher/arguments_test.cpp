// What a worker is given: its words, its environment, its stdin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

const std::string kWorker = DDPRUN_TEST_WORKER;

TEST(ArgumentsTest, ArriveByteForByte) {
  const Finished end =
      ddprun({"-n", "1", kWorker, "words", "--help", "-9", "", "--", "a$$b", "${rank}",
              "${local_rank}", "two words", "--nproc-per-node=7", "\xff\xfe", "line\nbreak"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.out,
            "[" + kWorker +
                "]\n[words]\n[--help]\n[-9]\n[]\n[--]\n[a$$b]\n[${rank}]\n[0]\n[two words]\n"
                "[--nproc-per-node=7]\n[\xff\xfe]\n[line\nbreak]\n");
}

TEST(ArgumentsTest, ASeparatorBeforeTheProgramIsOurs) {
  EXPECT_EQ(ddprun({"-n", "1", "--", kWorker, "words", "--"}).out,
            "[" + kWorker + "]\n[words]\n[--]\n");
}

TEST(ArgumentsTest, PassLocalRankAddsTheOldArgument) {
  const Finished end = ddprun({"-n", "1", "--pass-local-rank=local_rank", kWorker, "words"});
  // The argument comes first, so the worker's own word is behind it and it refuses its use.
  EXPECT_EQ(end.code, 2);
  EXPECT_EQ(ddprun({"-n", "1", "--pass-local-rank", "sh", "-c", "echo no"}).code, 2);
  EXPECT_EQ(ddprun({"-n", "1", "--pass-local-rank", "/bin/echo", "x"}).out, "--local-rank=0 x\n");
  EXPECT_EQ(ddprun({"-n", "1", "--pass-local-rank=local_rank", "/bin/echo", "x"}).out,
            "--local_rank=0 x\n");
}

std::map<std::string, std::string> environment_of(const Finished& end) {
  std::map<std::string, std::string> result;
  for (const std::string& line : lines(end.out))
    if (const auto equals = line.find('='); equals != std::string::npos)
      result[line.substr(0, equals)] = line.substr(equals + 1);
  return result;
}

TEST(EnvironmentTest, HasTorchrunsNamesAndOurs) {
  const Finished end = ddprun(
      {"-n", "2", "sh", "-c", "[ $RANK = 0 ] || env"},
      {.environment = {"PET_MAX_RESTARTS=0", "TORCHELASTIC_RUN_ID=old", "RANK=77", "MINE=kept"}});
  auto env = environment_of(end);
  for (const char* name : {"LOCAL_RANK",
                           "RANK",
                           "GROUP_RANK",
                           "ROLE_RANK",
                           "ROLE_NAME",
                           "LOCAL_WORLD_SIZE",
                           "WORLD_SIZE",
                           "GROUP_WORLD_SIZE",
                           "ROLE_WORLD_SIZE",
                           "MASTER_ADDR",
                           "MASTER_PORT",
                           "TORCHELASTIC_RESTART_COUNT",
                           "TORCHELASTIC_MAX_RESTARTS",
                           "TORCHELASTIC_RUN_ID",
                           "TORCHELASTIC_USE_AGENT_STORE",
                           "TORCHELASTIC_ERROR_FILE",
                           "TORCH_NCCL_ASYNC_ERROR_HANDLING",
                           "OMP_NUM_THREADS",
                           "DDPRUN",
                           "DDPRUN_VERSION",
                           "DDPRUN_DEVICE"})
    EXPECT_TRUE(env.count(name)) << name;
  EXPECT_EQ(env["RANK"], "1");
  EXPECT_EQ(env["WORLD_SIZE"], "2");
  EXPECT_EQ(env["MASTER_ADDR"], "127.0.0.1");
  EXPECT_GT(std::atoi(env["MASTER_PORT"].c_str()), 0);
  EXPECT_EQ(env["TORCHELASTIC_USE_AGENT_STORE"], "True");
  EXPECT_NE(env["TORCHELASTIC_RUN_ID"], "old");
  EXPECT_EQ(env["MINE"], "kept");
  EXPECT_FALSE(env.count("PET_MAX_RESTARTS"));
}

TEST(EnvironmentTest, StandardInputIsEmpty) {
  const TemporaryFolder folder;
  std::ofstream(folder / "input") << "for nobody\n";
  const Finished end = ddprun({"-n", "2", "cat"}, {.input = folder / "input"});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.out, "");
}

TEST(EnvironmentTest, APythonScriptRunsUnbufferedUnderPython) {
  const TemporaryFolder folder;
  std::ofstream(folder / "train.py")
      << "import sys\nprint(sys.argv[1:], sys.stdout.write_through)\n";
  const Finished end = ddprun({"-n", "1", folder / "train.py", "--", "--depth=20"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.out, "['--depth=20'] True\n");
}

}  // namespace
}  // namespace ddprun::test
