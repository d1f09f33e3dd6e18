// Restarts: --max-restarts and what belongs to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <fstream>
#include <set>

#include "rendezvous/base/read_file.h"
#include "tests/integration/support/loopback_port.h"
#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

const std::string kWorker = DDPRUN_TEST_WORKER;

std::string unique_mark() {
  return "7" + std::to_string(::getpid()) + "." + std::to_string(::rand());
}

TEST(RestartTest, AFailedGroupStartsAgainWithAHigherCount) {
  const Finished end = ddprun(
      {"-n", "2", "--max-restarts", "2", "--restart-backoff", "0", "sh", "-c",
       "echo $RANK: $TORCHELASTIC_RESTART_COUNT of $TORCHELASTIC_MAX_RESTARTS; [ $RANK = 0 ] && "
       "[ $TORCHELASTIC_RESTART_COUNT != 2 ] && exec sleep 100; exit $((2 - "
       "TORCHELASTIC_RESTART_COUNT))"});
  EXPECT_EQ(end.code, 0) << end.err;
  // Rank 0 may have been stopped before it could say anything in the attempts that failed.
  EXPECT_THAT(end.out, AllOf(HasSubstr("1: 0 of 2"), HasSubstr("1: 1 of 2"), HasSubstr("1: 2 of 2"),
                             HasSubstr("0: 2 of 2")));
  EXPECT_THAT(end.err,
              ContainsRegex("attempt 0: rank 1 failed first: exit code 2 .*; restart 1 of 2\n"));
  EXPECT_THAT(end.err,
              ContainsRegex("attempt 1: rank 1 failed first: exit code 1 .*; restart 2 of 2\n"));
  EXPECT_THAT(end.err, HasSubstr("all workers ended with 0, after 2 restarts\n"));
}

TEST(RestartTest, WithoutRestartsLeftTheLastAttemptIsReported) {
  const Finished end = ddprun({"--max-restarts", "1", "sh", "-c",
                               "echo in attempt $TORCHELASTIC_RESTART_COUNT >&2; exit $((3 + "
                               "TORCHELASTIC_RESTART_COUNT))"});
  EXPECT_EQ(end.code, 4);
  EXPECT_THAT(end.err, HasSubstr("rank 0 failed first: exit code 4"));
  EXPECT_THAT(end.err, HasSubstr(", attempt 1\n"));
  EXPECT_THAT(end.err, HasSubstr("    | in attempt 1\n"));
  EXPECT_THAT(end.err, HasSubstr("\n  attempt 0: rank 0 failed first: exit code 3 after "));
  EXPECT_THAT(end.err, Not(HasSubstr("    | in attempt 0\n")));
}

TEST(RestartTest, QuietSaysNothingAboutRestarts) {
  const Finished end =
      ddprun({"-q", "--max-restarts", "1", "sh", "-c", "exit $((1 - TORCHELASTIC_RESTART_COUNT))"});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.err, "");
}

TEST(RestartTest, NobodyOfARoundIsThereInTheNext) {
  const TemporaryFolder folder;
  const std::string mark = unique_mark();
  const Finished end = ddprun(
      {"-n", "2", "--max-restarts", "1", "sh", "-c",
       "cd " + folder.path() + "; [ $TORCHELASTIC_RESTART_COUNT = 1 ] && exec pgrep -fc '^sleep " +
           mark + "'; if [ $RANK = 0 ]; then (trap '' TERM; exec setsid sleep " + mark +
           ") & mkfifo up; echo > up; exec sleep " + mark +
           "; fi; until [ -p up ]; do sleep 0.01; done; read x < up; exit 3"},
      {.environment = {}, .input = {}});
  // pgrep found nobody, so it ends with 1.
  EXPECT_EQ(end.code, 1) << end.err;
  EXPECT_THAT(end.out, HasSubstr("0\n"));
  EXPECT_TRUE(nobody_has(mark, std::chrono::seconds(5)));
}

// Meets the others in the store, fails the first time, and prints where the store was.
const std::string kMeetTwice = "echo port $MASTER_PORT; " + kWorker +
                               " store 5 same-keys || exit 9; exit $((1 - "
                               "TORCHELASTIC_RESTART_COUNT))";

std::set<std::string> ports_in(const std::string& out) {
  std::set<std::string> ports;
  for (const std::string& line : lines(out))
    if (line.starts_with("port ")) ports.insert(line);
  return ports;
}

TEST(RestartTest, TheStoreStartsEmptyOnAnotherPort) {
  const Finished end = ddprun({"-n", "3", "--max-restarts", "1", "sh", "-c", kMeetTwice});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(ports_in(end.out).size(), 2U);
}

TEST(RestartTest, AFixedPortIsKeptAndTheStoreIsEmptyAllTheSame) {
  std::string port;
  {
    const LoopbackPort free;
    port = std::to_string(free.number());
  }
  const Finished end =
      ddprun({"-n", "3", "--max-restarts", "1", "--master-port", port, "sh", "-c", kMeetTwice});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(ports_in(end.out), std::set<std::string>{"port " + port});
}

TEST(RestartTest, TheLogsOfEachAttemptAreKept) {
  const TemporaryFolder folder;
  const Finished end = ddprun({"--max-restarts", "1", "--log-dir", folder.path(), "-r", "1", "sh",
                               "-c", "echo attempt $TORCHELASTIC_RESTART_COUNT; exit 1"});
  EXPECT_EQ(end.code, 1);
  EXPECT_EQ(read_file(folder / "latest/attempt_0/0/stdout.log"), "attempt 0\n");
  EXPECT_EQ(read_file(folder / "latest/attempt_1/0/stdout.log"), "attempt 1\n");
}

TEST(RestartTest, AStopSignalEndsThePauseAtOnce) {
  Program program(ddprun_words({"--max-restarts", "9", "--restart-backoff", "600", "sh", "-c",
                                "echo attempt $TORCHELASTIC_RESTART_COUNT; exit 3"}));
  ASSERT_TRUE(program.wait_for_error("restart 2 of 9 in 600 s (failed within a second"));
  ::kill(program.pid(), SIGTERM);
  const Finished end = program.finish();
  EXPECT_EQ(end.signal, SIGTERM) << end.err;
  EXPECT_THAT(end.err, HasSubstr("stopped by SIGTERM"));
  EXPECT_THAT(end.err, HasSubstr("\n  attempt 1: rank 0 failed first: exit code 3"));
  EXPECT_THAT(end.out, Not(HasSubstr("attempt 2")));
}

TEST(RestartTest, ThePauseEndsWithTheGuardian) {
  Program program(ddprun_words(
      {"--max-restarts", "9", "--restart-backoff", "600", "sh", "-c", "echo up; exit 3"}));
  ASSERT_TRUE(program.wait_for_error("restart 2 of 9 in 600 s"));
  ::kill(program.pid(), SIGKILL);
  // The launcher holds our pipes until it ends.
  const Finished end = program.finish();
  EXPECT_FALSE(end.timed_out);
  EXPECT_THAT(end.err, HasSubstr("its outer process was killed"));
}

TEST(RestartTest, AStopSignalDuringTheLadderPreventsTheRestart) {
  const TemporaryFolder folder;
  const std::string fifo = folder.make_fifo("fifo");
  Program program(ddprun_words(
      {"-v", "-n", "2", "--max-restarts", "5", "sh", "-c",
       "echo attempt $TORCHELASTIC_RESTART_COUNT; [ $RANK = 1 ] && { read x < " + fifo +
           "; exit 3; }; trap 'echo asked; read x < " + fifo + "; exit 0' TERM; echo ready > " +
           fifo + "; while :; do sleep 0.01; done"}));
  ASSERT_TRUE(program.wait_for_output("asked"));
  ::kill(program.pid(), SIGINT);
  ASSERT_TRUE(program.wait_for_error("told to stop"));
  std::ofstream(fifo) << "go\n";
  const Finished end = program.finish();
  EXPECT_EQ(end.signal, SIGINT) << end.err;
  EXPECT_THAT(end.err, HasSubstr("stopped by SIGINT"));
  EXPECT_THAT(end.err, HasSubstr("\n  attempt 0: rank 1 failed first: exit code 3"));
  EXPECT_THAT(end.out, Not(HasSubstr("attempt 1")));
}

TEST(RestartTest, AProgramThatIsGoneIsNotTriedAgain) {
  const TemporaryFolder folder;
  const std::string program = folder / "program";
  std::ofstream(program) << "#!/bin/sh\nrm " << program << "\nexit 3\n";
  ASSERT_EQ(::chmod(program.c_str(), 0700), 0);
  const Finished end = ddprun({"--max-restarts", "5", program});
  EXPECT_EQ(end.code, 127);
  EXPECT_THAT(end.err, HasSubstr("restart 1 of 5"));
  EXPECT_THAT(end.err, Not(HasSubstr("restart 2 of 5")));
}

}  // namespace
}  // namespace ddprun::test
