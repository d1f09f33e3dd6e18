// spawn, with real processes: results, every way to fail, and that nobody is left behind.
#include <gmock/gmock.h>
#include <signal.h>

#include "tests/integration/support/run.h"

namespace ddp::test {
namespace {

using ddprun::test::Finished;
using ddprun::test::lines;
using ddprun::test::nobody_has;
using ddprun::test::Program;
using ddprun::test::run;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::UnorderedElementsAre;
using Words = std::vector<std::string>;

constexpr seconds kLimit{60};
constexpr int kDdpError = 3;

// `marker` is on the command line of the program and of its workers.
Finished spawner(const std::string& scenario, const Words& environment = {},
                 const std::string& marker = "unmarked") {
  Words all = environment;
  all.push_back("DDPRUN_DEVICE=cpu");
  return run({SPAWNER, scenario, marker}, {.environment = all, .limit = kLimit});
}

// The scenario ends with this line, and no process of it is left: spawn has waited for each.
void expect_error(const std::string& scenario, const std::string& line) {
  const std::string marker = "marker_" + std::to_string(getpid()) + "_" + scenario;
  const auto job = spawner(scenario, {}, marker);
  EXPECT_EQ(job.code, kDdpError) << job.out << job.err;
  EXPECT_THAT(lines(job.out), testing::Contains(line)) << job.err;
  EXPECT_TRUE(nobody_has(marker, std::chrono::milliseconds(0)));
}

TEST(Spawn, RanksFindEachOtherAndTheirArguments) {
  const auto job = spawner("sum");
  EXPECT_EQ(job.code, 0) << job.out << job.err;
  EXPECT_THAT(lines(job.out),
              UnorderedElementsAre("hello from rank 0 of 3: 6", "hello from rank 1 of 3: 6",
                                   "hello from rank 2 of 3: 6", "all ended well"));
}

TEST(Spawn, ArgumentsArriveExactly) {
  const auto job = spawner("echo");
  char expected[200];
  std::snprintf(expected, sizeof expected, "610a002725 %a %a 18446744073709551615 -128 1 %a %La",
                0.1, 5e-324, 0.5, 1.0L / 3);
  EXPECT_THAT(lines(job.out), ElementsAre(expected, "all ended well")) << job.err;
}

TEST(Spawn, AWorkerHasAPlaceOfItsOwnWhateverALauncherSaid) {
  const auto job = spawner("place", {"RANK=7", "LOCAL_RANK=7", "WORLD_SIZE=9", "MASTER_PORT=1",
                                     "TORCHELASTIC_RESTART_COUNT=5", "OMP_NUM_THREADS=3"});
  EXPECT_THAT(lines(job.out), UnorderedElementsAre("0: 0 0 2 2, cpu, OMP 3, restarts 0, ticket -",
                                                   "1: 1 1 2 2, cpu, OMP 3, restarts 0, ticket -",
                                                   "all ended well"))
      << job.err;
}

TEST(Spawn, EachWorkerHasTheDeviceOfItsLocalRank) {
  const auto job = run({SPAWNER, "place"},
                       {.environment = {"DDPRUN_SIMULATED_GPUS=4", "CUDA_VISIBLE_DEVICES=3,1",
                                        "DDPRUN_DEVICE=cuda:1", "OMP_NUM_THREADS=1"},
                        .limit = kLimit});
  EXPECT_THAT(job.out, HasSubstr("0: 0 0 2 2, cpu (simulates cuda:0, GPU 3)")) << job.err;
  EXPECT_THAT(job.out, HasSubstr("1: 1 1 2 2, cpu (simulates cuda:1, GPU 1)"));
}

TEST(Spawn, AnExceptionIsThrownAgainWithItsRankAndItsType) {
  expect_error("throw",
               "rank 1: [rank 1] spawn: worker 'fail' failed: std::runtime_error: no luck");
  expect_error("throw_number",
               "rank 0: [rank 0] spawn: worker 'throw_number' failed: an exception of type int");
}

TEST(Spawn, AnExceptionsTextMayBeLong) {
  const auto job = spawner("throw_long");
  EXPECT_THAT(job.out, testing::EndsWith("no luck" + std::string(200'000, '!') + "\n"));
}

TEST(Spawn, AKilledWorkerIsNamedWithItsSignalAndNotItsPeers) {
  expect_error("kill", "rank 1: [rank 1] spawn: worker 'fail' was ended by signal 9 (SIGKILL)");
  expect_error("abort", "rank 1: [rank 1] spawn: worker 'fail' was ended by signal 6 (SIGABRT)");
}

TEST(Spawn, AnExitCodeIsAFailureUnlessItIsZero) {
  expect_error("exit", "rank 1: [rank 1] spawn: worker 'fail' ended with exit code 7");
  EXPECT_EQ(spawner("leave").code, 0);
}

TEST(Spawn, WhoDoesNotHeedSigtermIsKilledAfterTheGraceTime) {
  const auto job = spawner("deaf");
  EXPECT_THAT(job.out,
              HasSubstr("[rank 1] spawn: worker 'deaf' failed: std::runtime_error: no luck"));
  EXPECT_FALSE(job.timed_out);
}

TEST(Spawn, WhoseFirstThreadHasEndedIsKilledAsWell) {
  const auto job = spawner("headless");
  EXPECT_THAT(job.out,
              HasSubstr("[rank 1] spawn: worker 'headless' failed: std::runtime_error: no luck"));
  EXPECT_FALSE(job.timed_out);
}

TEST(Spawn, NobodyOutlivesAParentThatIsKilled) {
  const std::string marker = "marker_" + std::to_string(getpid());
  Program parent({SPAWNER, "hang", marker},
                 {.environment = {"DDPRUN_DEVICE=cpu"}, .limit = kLimit});
  ASSERT_TRUE(parent.wait_for_output("all are here"));
  EXPECT_EQ(ddprun::test::pids_with(marker).size(), 4u) << "the parent and three workers";
  kill(parent.pid(), SIGKILL);
  EXPECT_EQ(parent.finish().signal, SIGKILL);
  EXPECT_TRUE(nobody_has(marker, seconds(20)));
}

TEST(Spawn, AWorkerCannotSpawn) {
  expect_error("nested",
               "rank 0: [rank 0] spawn: worker 'spawn_again' failed: ddp::Error: [rank 0] spawn: "
               "called inside the spawned worker 'spawn_again'; only the program that was started "
               "by hand may spawn");
}

TEST(Spawn, MistakesAreSaidBeforeAnythingStarts) {
  expect_error("none", "rank -1: spawn: nprocs is 0; expected at least 1 process");
  expect_error("two_of_a_name", "rank -1: spawn: two workers are registered as 'twice'");
  expect_error("too_few",
               "rank -1: spawn: worker 'sum': expected 1 argument behind the rank, found 0");
  expect_error("wrong_kind",
               "rank -1: spawn: worker 'leave': argument 1: expected a whole number of 32 bits, "
               "found the text 'a word'");
  expect_error("too_large",
               "rank -1: spawn: worker 'leave': argument 1: expected a whole number of 32 bits, "
               "found 1099511627776");
  expect_error("ignoring_children",
               "rank -1: spawn: the program ignores SIGCHLD, so that nobody can learn how the "
               "processes end; set it to SIG_DFL first");
}

TEST(Spawn, AnUnknownNameIsSaidWithThoseThereAre) {
  const auto job = spawner("unknown");
  EXPECT_EQ(job.code, kDdpError);
  EXPECT_THAT(job.out, StartsWith("rank -1: spawn: no worker is registered as 'sumo' when main "
                                  "begins (there is deaf, echo, fail, "));
}

TEST(Spawn, AWorkerRegisteredTooLateIsNotThereInTheNewProcess) {
  const auto job = spawner("inside_a_function");
  EXPECT_EQ(job.code, kDdpError);
  EXPECT_THAT(job.out, HasSubstr("spawn: worker 'late' failed: ddp::Error: spawn: no worker is "
                                 "registered as 'late' when main begins"));
}

TEST(Spawn, AMainThatForgetsItsFirstLineIsToldSo) {
  const auto job = spawner("forgetful");
  EXPECT_EQ(job.code, kDdpError);
  EXPECT_THAT(job.out, HasSubstr("spawn: called in a process that spawn has started: main must "
                                 "begin with ddp::run_if_spawned()"));
  EXPECT_THAT(lines(job.out).back(),
              testing::EndsWith("spawn: worker 'show_place' ended with exit code 3 before it was "
                                "called: main must begin with ddp::run_if_spawned()"));
}

}  // namespace
}  // namespace ddp::test
