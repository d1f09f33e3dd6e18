// --signals-to-handle, and signals and descendants at the end of a job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "tests/integration/support/loopback_port.h"
#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string unique_mark() {
  return "7" + std::to_string(::getpid()) + "." + std::to_string(::rand());
}

class ListedSignalTest : public testing::TestWithParam<int> {};

TEST_P(ListedSignalTest, IsForwardedAndEndsTheJob) {
  const std::string number = std::to_string(GetParam());
  Program program(ddprun_words({"--signals-to-handle", "TERM," + number, "sh", "-c",
                                "trap 'echo got it; exit 5' " + number +
                                    "; echo $TORCHELASTIC_SIGNALS_TO_HANDLE; while :; do sleep "
                                    "0.01; done"}));
  ASSERT_TRUE(program.wait_for_output("SIGTERM,"));
  ::kill(program.pid(), GetParam());
  const Finished end = program.finish();
  EXPECT_EQ(end.signal, GetParam()) << end.err;
  EXPECT_THAT(end.out, HasSubstr("got it"));
  EXPECT_THAT(end.err, HasSubstr("stopped by "));
  EXPECT_THAT(end.err, Not(HasSubstr("bug")));
}

INSTANTIATE_TEST_SUITE_P(Each, ListedSignalTest,
                         testing::Values(SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGRTMIN + 3));

TEST(UnlistedSignalTest, IsIgnoredAndSaid) {
  const TemporaryFolder folder;
  const std::string fifo = folder.make_fifo("fifo");
  Program program(ddprun_words({"--signals-to-handle", "SIGTERM", "sh", "-c",
                                "echo up; read line < " + fifo + "; echo $line"}));
  ASSERT_TRUE(program.wait_for_output("up"));
  ::kill(program.pid(), SIGHUP);
  ASSERT_TRUE(program.wait_for_error("SIGHUP was ignored"));
  std::ofstream(fifo) << "still here\n";
  const Finished end = program.finish();
  EXPECT_EQ(end.code, 0);
  EXPECT_THAT(end.out, HasSubstr("still here"));
}

TEST(UnexpectedSignalTest, EndsTheJobAndLeavesNobody) {
  const std::string mark = unique_mark();
  Program program(
      ddprun_words({"sh", "-c", "(setsid sleep " + mark + " &); echo up; exec sleep " + mark}));
  ASSERT_TRUE(program.wait_for_output("up"));
  ::kill(program.pid(), SIGALRM);
  EXPECT_EQ(program.finish().signal, SIGALRM);
  EXPECT_TRUE(nobody_has(mark, std::chrono::seconds(5)));
}

TEST(KeepDescendantsTest, LeavesThemAndNamesThem) {
  const std::string mark = unique_mark();
  const Finished end =
      ddprun({"-v", "--keep-descendants", "sh", "-c",
              "setsid sleep " + mark + " > /dev/null 2>&1 & until pgrep -f '^sleep " + mark +
                  "' > /dev/null; do :; done; exit 3"});
  EXPECT_EQ(end.code, 3);
  EXPECT_THAT(end.err, HasSubstr("(sleep " + mark + "), which workers have left"));
  const std::vector<pid_t> kept = pids_with(mark);
  ASSERT_EQ(kept.size(), 1U);
  ::kill(kept.front(), SIGKILL);
}

// All work was done, and that is what the exit code says; the signal only ends the waiting.
TEST(AfterSuccessTest, AStopSignalDuringTheSweepHurriesIt) {
  const std::string mark = unique_mark();
  Program program(ddprun_words({"sh", "-c",
                                "(trap 'echo asked' TERM; echo up; while :; do sleep 0.01; done; " +
                                    mark + ") & read x < /proc/self/stat; exit 0"}));
  ASSERT_TRUE(program.wait_for_output("asked"));
  ::kill(program.pid(), SIGTERM);
  const Finished end = program.finish();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_LT(end.took.count(), 1900) << "it would have had 2 s";
  EXPECT_TRUE(nobody_has(mark, std::chrono::seconds(5)));
}

TEST(GuardianTest, AFixedPortIsFreeOnceTheGuardianIsKilled) {
  std::string port;
  {
    const LoopbackPort free;
    port = std::to_string(free.number());
  }
  const TemporaryFolder folder;
  Program program(ddprun_words({"--master-port", port, "sh", "-c",
                                "trap 'echo asked' TERM; echo up; while :; do sleep 0.01; done"}));
  ASSERT_TRUE(program.wait_for_output("up"));
  ::kill(program.pid(), SIGKILL);
  ASSERT_TRUE(program.wait_for_output("asked"));
  EXPECT_EQ(ddprun({"--master-port", port, "true"}).code, 0);
}

}  // namespace
}  // namespace ddprun::test
