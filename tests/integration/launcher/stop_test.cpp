// Signals to ddprun, and the stop ladder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <fstream>

#include "launcher/process/children.h"
#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class StopSignalTest : public testing::TestWithParam<int> {};

TEST_P(StopSignalTest, IsForwardedAndEndsUsAsWell) {
  const int signo = GetParam();
  const std::string number = std::to_string(signo);
  Program program(ddprun_words({"-n", "2", "sh", "-c",
                                "trap 'echo got $RANK; exit 5' " + number +
                                    "; echo up $RANK; while :; do sleep 0.01; done"}));
  ASSERT_TRUE(program.wait_for_output("up 0") && program.wait_for_output("up 1"));
  ::kill(program.pid(), signo);
  const Finished end = program.finish();
  EXPECT_EQ(end.signal, signo) << end.err;
  EXPECT_THAT(end.out, HasSubstr("got 0"));
  EXPECT_THAT(end.out, HasSubstr("got 1"));
  EXPECT_THAT(end.err, Not(HasSubstr("failed first")));
}

INSTANTIATE_TEST_SUITE_P(Each, StopSignalTest, testing::Values(SIGTERM, SIGINT, SIGHUP, SIGQUIT),
                         [](const auto& chosen) {
                           return std::string(::sigabbrev_np(chosen.param));
                         });

// Ignores TERM and INT and says when it does.
const char* const kStubborn = "trap '' TERM INT; echo up $RANK; while :; do sleep 0.01; done";

TEST(StopTest, AfterTheGraceTimeWorkersAreKilled) {
  Program program(ddprun_words({"--shutdown-timeout", "0.2", "sh", "-c", kStubborn}));
  ASSERT_TRUE(program.wait_for_output("up 0"));
  ::kill(program.pid(), SIGTERM);
  const Finished end = program.finish();
  EXPECT_EQ(end.signal, SIGTERM);
  EXPECT_GE(end.took.count(), 200);
  EXPECT_THAT(end.err, HasSubstr("SIGKILL"));
}

TEST(StopTest, WhoKeepsUsWaitingIsNamed) {
  const TemporaryFolder folder;
  // Rank 0 fails once the others ignore SIGTERM.
  const std::string script = "cd " + folder.path() +
                             "; [ $RANK = 0 ] || { trap '' TERM; touch $RANK; exec sleep 30; };"
                             "until [ -e 1 -a -e 2 ]; do sleep 0.01; done; exit 3";
  const Finished end =
      run(ddprun_words({"-n", "3", "--shutdown-timeout", "1.3", "sh", "-c", script}));
  EXPECT_EQ(end.code, 3);
  EXPECT_THAT(end.err, HasSubstr("rank 0 failed first: exit code 3; waiting for ranks 1-2"));
  EXPECT_THAT(end.err, HasSubstr("SIGKILL follows 1.3 s after it"));
}

TEST(StopTest, ASecondSignalDoesNotWait) {
  Program program(ddprun_words({"-v", "-n", "2", "sh", "-c", kStubborn}));
  ASSERT_TRUE(program.wait_for_output("up 0") && program.wait_for_output("up 1"));
  ::kill(program.pid(), SIGINT);
  ASSERT_TRUE(program.wait_for_error("told to stop"));
  run({"/bin/sleep", "0.15"});  // within 100 ms it would be the same signal, delivered twice
  ::kill(program.pid(), SIGINT);
  const Finished end = program.finish();
  EXPECT_EQ(end.signal, SIGINT);
  EXPECT_LT(end.took.count(), 10'000);
}

TEST(StopTest, AStoppedWorkerDoesNotDelayTheEnd) {
  const TemporaryFolder folder;
  const Finished end = ddprun(
      {"-n", "2", "sh", "-c",
       "cd " + folder.path() +
           "; if [ $RANK = 0 ]; then echo $$ > new && mv new pid; kill -STOP $$; sleep 100; fi"
           "; while ! grep -qs '^State:.T' /proc/$(cat pid 2> /dev/null)/status; do :; done; exit "
           "4"});
  EXPECT_EQ(end.code, 4);
  EXPECT_LT(end.took.count(), 10'000);
}

TEST(StopTest, AStoppedWorkerHandlesTheSignal) {
  Program program(
      ddprun_words({"-q", "sh", "-c",
                    "trap 'echo handled; exit 0' TERM; echo $$; while :; do sleep 0.01; done"}));
  ASSERT_TRUE(program.wait_for_output("\n"));
  const pid_t worker = std::stoi(program.out());
  ::kill(worker, SIGSTOP);
  ASSERT_TRUE(comes_to_state(worker, 'T'));
  ::kill(program.pid(), SIGTERM);
  const Finished end = program.finish();
  EXPECT_EQ(end.signal, SIGTERM);
  EXPECT_THAT(end.out, HasSubstr("handled"));
}

TEST(StopTest, UnderNohupAHangupIsIgnoredByUsAndFatalForWorkers) {
  const TemporaryFolder folder;
  const std::string fifo = folder.make_fifo("fifo");
  Program program(
      ddprun_words({"sh", "-c",
                    "grep SigIgn /proc/$$/status; echo up; read line < " + fifo + "; echo $line"}),
      {.ignore_hangup = true});
  ASSERT_TRUE(program.wait_for_output("up"));
  ::kill(program.pid(), SIGHUP);
  std::ofstream(fifo) << "still here\n";
  const Finished end = program.finish();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("SigIgn:\t0000000000000000"));
  EXPECT_THAT(end.out, HasSubstr("still here"));
}

TEST(StopTest, ANobodyWhoReadsOurOutputDoesNotKeepUs) {
  Program program(ddprun_words({"sh", "-c", "echo up; exec yes"}));
  ASSERT_TRUE(program.wait_for_output("up"));
  ::kill(program.pid(), SIGTERM);
  EXPECT_TRUE(program.wait_for_end());
}

TEST(StopTest, BeforeTheFirstWorkerWeEndLikeAnyProgram) {
  const TemporaryFolder folder;
  // A driver library that never finishes loading.
  Program program(ddprun_words({"-n", "1", "/bin/true"}),
                  {.environment = {"DDPRUN_NVML=" + folder.make_fifo("driver")}});
  while (process::children_of(program.pid()).empty()) {
  }
  ::kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().signal, SIGTERM);
}

// A pid namespace in which ddprun is process 1.
class ProcessOneTest : public testing::Test {
 protected:
  void SetUp() override {
    if (run({"/usr/bin/unshare", "-Urfp", "--mount-proc", "/bin/true"}).code != 0)
      GTEST_SKIP() << "this machine does not let us have a pid namespace";
  }
  static std::vector<std::string> in_namespace(const std::string& script) {
    std::vector<std::string> words{"/usr/bin/unshare", "-Urfp", "--kill-child", "--mount-proc"};
    for (const std::string& word : ddprun_words({"-q", "sh", "-c", script})) words.push_back(word);
    return words;
  }
};

TEST_F(ProcessOneTest, ExitsWithTheCodeOfTheSignal) {
  EXPECT_EQ(run(in_namespace("exit 3")).code, 3);
  EXPECT_EQ(run(in_namespace("kill -TERM 1; sleep 100")).code, 128 + SIGTERM);
}

// As after `docker exec`: the process comes from outside, so its orphan goes to process 1.
TEST_F(ProcessOneTest, ReapsTheOrphansOfTheContainer) {
  Program program(in_namespace("echo up; exec sleep 1000"));
  ASSERT_TRUE(program.wait_for_output("up"));
  const pid_t guardian = process::children_of(program.pid()).at(0);
  const std::string orphan = "until grep -q '^PPid:.1$' /proc/$$/status; do :; done; echo adopted";
  const Finished visitor =
      run({"/usr/bin/nsenter", "--preserve-credentials", "-U", "-p", "-m", "-t",
           std::to_string(guardian), "/bin/sh", "-c", "(sh -c \"$0\" &)", orphan});
  ASSERT_THAT(visitor.out, HasSubstr("adopted")) << visitor.err;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (process::children_of(guardian).size() > 1 && std::chrono::steady_clock::now() < deadline)
    ::poll(nullptr, 0, 5);
  EXPECT_EQ(process::children_of(guardian).size(), 1U) << "the launcher, and no zombie";
}

TEST(StopTest, TheSignalThatEndsUsLeavesNoCore) {
  const TemporaryFolder folder;
  std::string words;
  for (const std::string& word : ddprun_words(
           {"-q", "sh", "-c", "'trap \"exit 3\" QUIT; echo up; while :; do sleep 0.01; done'"}))
    words += " " + word;
  Program program({"/bin/sh", "-c", "ulimit -c unlimited; cd " + folder.path() + "; exec" + words});
  ASSERT_TRUE(program.wait_for_output("up"));
  ::kill(program.pid(), SIGQUIT);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(program.pid()), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(info.si_code, CLD_KILLED);
  EXPECT_EQ(program.finish().signal, SIGQUIT);
}

TEST(StopTest, AJobInTheBackgroundOfAScriptCanBeInterrupted) {
  std::string words;
  for (const std::string& word : ddprun_words({"sh", "-c", "'echo up; exec sleep 100'"}))
    words += " " + word;
  // This is how a shell without job control starts what stands before a `&`.
  Program program({"/bin/sh", "-c", "trap '' INT QUIT; exec" + words});
  ASSERT_TRUE(program.wait_for_output("up"));
  ::kill(program.pid(), SIGINT);
  EXPECT_EQ(program.finish().signal, SIGINT);
}

TEST(StopTest, UserSignalsReachThoseWhoWantThemAndEndNobody) {
  Program program(ddprun_words({"-n", "2", "sh", "-c",
                                "[ $RANK = 0 ] && trap 'echo got it; exit 0' USR1; echo up $RANK; "
                                "while :; do sleep 0.01; done"}));
  ASSERT_TRUE(program.wait_for_output("up 0") && program.wait_for_output("up 1"));
  ::kill(program.pid(), SIGUSR1);
  ASSERT_TRUE(program.wait_for_output("got it"));
  ::kill(program.pid(), SIGUSR2);
  ASSERT_TRUE(program.wait_for_error("SIGUSR2 was not passed on"));
  ::kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().signal, SIGTERM);
}

TEST(StopTest, CtrlZStopsTheWorkersAndUsAndContinueWakesAll) {
  Program program(ddprun_words({"sh", "-c", "echo up $$; exec sleep 1000"}));
  ASSERT_TRUE(program.wait_for_output("up ") && program.wait_for_output("\n"));
  const pid_t worker = std::stoi(lines(program.out()).at(0).substr(3));
  ::kill(program.pid(), SIGTSTP);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(program.pid()), &info, WSTOPPED | WNOWAIT), 0);
  EXPECT_TRUE(comes_to_state(worker, 'T'));
  ::kill(program.pid(), SIGCONT);
  EXPECT_TRUE(comes_to_state(worker, 'S'));
  ::kill(program.pid(), SIGTERM);
  const Finished end = program.finish();
  EXPECT_FALSE(end.timed_out);
  EXPECT_EQ(end.signal, SIGTERM);
}

TEST(StopTest, CtrlZStopsADaemonOfAWorkerToo) {
  Program program(ddprun_words(
      {"-q", "sh", "-c", "(setsid sh -c 'echo $$; exec sleep 1000' &); exec sleep 1000"}));
  ASSERT_TRUE(program.wait_for_output("\n"));
  const pid_t daemon = std::stoi(program.out());
  ::kill(program.pid(), SIGTSTP);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(program.pid()), &info, WSTOPPED | WNOWAIT), 0);
  EXPECT_TRUE(comes_to_state(daemon, 'T'));
  ::kill(program.pid(), SIGCONT);
  EXPECT_TRUE(comes_to_state(daemon, 'S'));
  ::kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().signal, SIGTERM);
}

TEST(StopTest, ContinueWakesAllEvenWhereItIsIgnored) {
  std::string words;
  for (const std::string& word : ddprun_words({"-q", "sh", "-c", "'echo $$; exec sleep 1000'"}))
    words += " " + word;
  Program program({"/bin/sh", "-c", "trap '' CONT; exec" + words});
  ASSERT_TRUE(program.wait_for_output("\n"));
  const pid_t worker = std::stoi(program.out());
  ::kill(program.pid(), SIGTSTP);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(program.pid()), &info, WSTOPPED | WNOWAIT), 0);
  ::kill(program.pid(), SIGCONT);
  EXPECT_TRUE(comes_to_state(worker, 'S'));
  ::kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().signal, SIGTERM);
}

TEST(StopTest, NothingIsLeftWhenOneOfOurTwoProcessesIsKilledWhileTheJobIsStopped) {
  for (const bool guardian : {false, true}) {
    const std::string mark = "7" + std::to_string(::getpid()) + "." + std::to_string(::rand());
    Program program(ddprun_words(
        {"sh", "-c", "(setsid sleep " + mark + " &); sleep " + mark + " & echo up; wait"}));
    ASSERT_TRUE(program.wait_for_output("up"));
    const pid_t launcher = process::children_of(program.pid()).at(0);
    ::kill(program.pid(), SIGTSTP);
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(program.pid()), &info, WSTOPPED | WNOWAIT), 0);
    ::kill(guardian ? program.pid() : launcher, SIGKILL);
    EXPECT_TRUE(nobody_has(mark, std::chrono::seconds(2))) << guardian;
    EXPECT_EQ(program.finish().signal, SIGKILL);
  }
}

}  // namespace
}  // namespace ddprun::test
