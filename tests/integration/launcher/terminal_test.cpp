// --stdin on a terminal, with a shell that does job control around ddprun.
#include "tests/integration/support/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;

// What rank 0 does is `zero`, what the others do `others`.
std::string job(const std::string& options, const std::string& zero, const std::string& others) {
  return "$DDPRUN -q -n 2 " + options + " sh -c 'if [ $RANK = 0 ]; then " + zero + "; else " +
         others + "; fi'";
}

TEST(TerminalTest, TheRankReadsWhatIsTyped) {
  Terminal terminal("set -m; " + job("--stdin 0", "echo ask; read line; echo \"<$line>\"", ":") +
                    "; echo status $?");
  ASSERT_TRUE(terminal.shows("ask")) << terminal.screen();
  terminal.type("hello\n");
  EXPECT_TRUE(terminal.shows("<hello>")) << terminal.screen();
  EXPECT_TRUE(terminal.shows("status 0")) << terminal.screen();
  EXPECT_EQ(terminal.finish(), 0);
}

TEST(TerminalTest, APromptWithoutANewlineIsSeen) {
  Terminal terminal(job("--stdin 0", "printf \"name? \"; read line; echo \"<$line>\"", ":"));
  ASSERT_TRUE(terminal.shows("name? ")) << terminal.screen();
  terminal.type("x\n");
  EXPECT_TRUE(terminal.shows("<x>")) << terminal.screen();
}

// What writes is a process in the background, which `stty tostop` is meant to stop.
TEST(TerminalTest, ARefusalIsShownUnderTostop) {
  Terminal terminal("set -m; stty tostop; $DDPRUN --no-such-option; echo status $?");
  EXPECT_TRUE(terminal.shows("--no-such-option")) << terminal.screen();
  EXPECT_TRUE(terminal.shows("status 2")) << terminal.screen();
}

class KeyTest : public testing::TestWithParam<std::pair<const char*, int>> {};

TEST_P(KeyTest, EndsTheWholeJob) {
  const TemporaryFolder folder;
  const std::string up = folder.make_fifo("up");
  const auto [key, signo] = GetParam();
  const std::string number = std::to_string(signo);
  Terminal terminal("set -m; " +
                    job("--stdin 0", "read line < " + up + "; echo ready; exec sleep 100",
                        "trap \"echo other got it; exit 3\" " + number + "; echo > " + up +
                            "; while :; do sleep 0.01; done") +
                    "; exit $?");
  ASSERT_TRUE(terminal.shows("ready")) << terminal.screen();
  terminal.type(key);
  EXPECT_TRUE(terminal.shows("other got it")) << terminal.screen();
  EXPECT_EQ(terminal.finish(), 128 + signo) << terminal.screen();
  EXPECT_THAT(terminal.screen(), testing::Not(HasSubstr("failed first")));
}

INSTANTIATE_TEST_SUITE_P(
    Each, KeyTest, testing::Values(std::pair{kCtrlC, SIGINT}, std::pair{kCtrlBackslash, SIGQUIT}),
    [](const auto& chosen) { return std::string(::sigabbrev_np(chosen.param.second)); });

TEST(TerminalTest, AKeyWhoseSignalStopsNoJobIsAFailureOfItsRank) {
  Terminal terminal(
      "set -m; " + job("--stdin 0 --signals-to-handle SIGTERM", "echo ready; exec sleep 100", ":") +
      "; exit $?");
  ASSERT_TRUE(terminal.shows("ready")) << terminal.screen();
  terminal.type(kCtrlC);
  EXPECT_TRUE(terminal.shows("rank 0 failed first: SIGINT")) << terminal.screen();
  EXPECT_EQ(terminal.finish(), 128 + SIGINT) << terminal.screen();
}

// The other rank answers on a pipe whenever it is asked, so that the script knows that it runs.
class JobControlTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string ask_ = folder_.make_fifo("ask"), answer_ = folder_.make_fifo("answer");
  std::string others_ = "echo $$ > " + (folder_ / "pid") + "; exec 3<> " + ask_ + " 4<> " +
                        answer_ +
                        "; while read word <&3; do [ $word = end ] && exit 0; echo $word >&4; done";
  std::string ping_ = "; echo alive >&7; read word <&8; echo rank 1 is $word";
  std::string open_ = "set -m; exec 7<> " + ask_ + " 8<> " + answer_ + "; ";
};

TEST_F(JobControlTest, CtrlZStopsEverybodyAndForegroundGoesOn) {
  const std::string pid = folder_ / "pid";
  Terminal terminal(
      open_ +
      job("--stdin 0",
          "until [ -s " + pid +
              " ]; do sleep 0.01; done; echo ask; read a; echo \"<$a>\"; echo end > " + ask_,
          others_) +
      "; echo status $?; until grep -q State:.T /proc/$(cat " + pid +
      ")/status; do sleep 0.01; done; echo rank 1 is stopped" +
      "; fg > /dev/null; echo status $?; read line; echo shell has \"<$line>\"");
  ASSERT_TRUE(terminal.shows("ask")) << terminal.screen();
  terminal.type(kCtrlZ);
  ASSERT_TRUE(terminal.shows("status 147")) << terminal.screen();
  EXPECT_TRUE(terminal.shows("rank 1 is stopped")) << terminal.screen();
  terminal.type("typed\n");
  EXPECT_TRUE(terminal.shows("<typed>")) << terminal.screen();
  EXPECT_TRUE(terminal.shows("status 0")) << terminal.screen();
  terminal.type("more\n");
  EXPECT_TRUE(terminal.shows("shell has <more>")) << terminal.screen();
  EXPECT_EQ(terminal.finish(), 0);
}

// What `jobs` says of a job that waits for the terminal.
const std::string kUntilStopped = "until jobs | grep -q Stopped; do sleep 0.01; done; echo waits";

TEST_F(JobControlTest, AReadInTheBackgroundStopsNobodyElse) {
  Terminal terminal(open_ + job("--stdin 0", "read a; echo \"<$a>\"; echo end > " + ask_, others_) +
                    " & " + kUntilStopped + ping_ + "; bg > /dev/null; " + kUntilStopped + ping_ +
                    "; fg > /dev/null; echo status $?");
  for (const char* word : {"waits", "rank 1 is alive", "waits", "rank 1 is alive"})
    ASSERT_TRUE(terminal.shows(word)) << terminal.screen();
  terminal.type("typed\n");
  EXPECT_TRUE(terminal.shows("<typed>")) << terminal.screen();
  EXPECT_TRUE(terminal.shows("status 0")) << terminal.screen();
}

TEST_F(JobControlTest, AJobThatRunsInTheBackgroundGetsTheTerminalWhenItNeedsIt) {
  // A shell does not tell a running job that `fg` was typed. Rank 0 reads once `fg` has taken the
  // terminal from the shell's own group.
  Terminal terminal(
      open_ +
      job("--stdin 0", "read word < " + answer_ + "; read a; echo \"<$a>\"; echo end > " + ask_,
          others_) +
      " & (while [ $(ps -o tpgid= -p $!) = $$ ]; do sleep 0.01; done; echo go >&8) & fg %1 > "
      "/dev/null; echo status $?");
  terminal.type("typed\n");
  EXPECT_TRUE(terminal.shows("<typed>")) << terminal.screen();
  EXPECT_TRUE(terminal.shows("status 0")) << terminal.screen();
}

TEST_F(JobControlTest, WithoutStdinABackgroundJobReadsNothingAndGoesOn) {
  Terminal terminal("set -m; " + job("", "cat; echo end of file", ":") + " & wait; echo status $?");
  EXPECT_TRUE(terminal.shows("end of file")) << terminal.screen();
  EXPECT_TRUE(terminal.shows("status 0")) << terminal.screen();
}

TEST_F(JobControlTest, AJobThatWaitsForTheTerminalCanBeEnded) {
  Terminal terminal(open_ + job("--stdin 0", "read a", others_) + " & " + kUntilStopped +
                    "; kill %1; while kill -0 $!; do sleep 0.01; done; wait $!; echo status $?");
  ASSERT_TRUE(terminal.shows("waits")) << terminal.screen();
  EXPECT_TRUE(terminal.shows("status 143")) << terminal.screen();
}

// Without job control ddprun is in the script's group, which goes on reading afterwards.
TEST(TerminalTest, TheScriptGetsItsTerminalBackHoweverTheJobEnds) {
  for (const char* zero : {":", "exit 3", "kill -9 $PPID; sleep 100", "kill -9 $$"}) {
    const TemporaryFolder folder;
    const std::string pid = folder.make_fifo("pid");
    // Rank 1 lives on until rank 0 is gone.
    Terminal terminal(
        job("--stdin 0", "echo $$ > " + pid + "; " + zero,
            "read pid < " + pid + "; while kill -0 $pid 2> /dev/null; do sleep 0.01; done") +
        "; read line; echo script has \"<$line>\"");
    terminal.type("typed\n");
    EXPECT_TRUE(terminal.shows("script has <typed>")) << zero << terminal.screen();
  }
}

TEST(TerminalTest, NothingInTheSessionOfTheRankIsLeftWhenTheLauncherIsKilled) {
  const std::string mark = "7" + std::to_string(::getpid()) + "." + std::to_string(::rand());
  Terminal terminal("set -m; " +
                        job("--stdin 0", "sleep $MARK & kill -9 $PPID; wait", "sleep 100") +
                        "; echo status $?",
                    {"MARK=" + mark});
  EXPECT_TRUE(terminal.shows("status 137")) << terminal.screen();
  EXPECT_TRUE(nobody_has(mark, std::chrono::seconds(2)));
}

TEST(DebuggerTest, AStandInTalksToTheUserAndThenRunsTheProgram) {
  const TemporaryFolder folder;
  std::ofstream(folder / "debug")
      << "printf '(dbg) '; read word; echo \"does $word\"; exec \"$@\"\n";
  Terminal terminal("$DDPRUN -q -n 3 --stdin 2 --wrap '2:sh " + (folder / "debug") +
                    "' sh -c 'echo rank $RANK runs'; echo status $?");
  ASSERT_TRUE(terminal.shows("(dbg) ")) << terminal.screen();
  terminal.type("run\n");
  EXPECT_TRUE(terminal.shows("does run")) << terminal.screen();
  EXPECT_TRUE(terminal.shows("rank 2 runs")) << terminal.screen();
  EXPECT_TRUE(terminal.shows("status 0")) << terminal.screen();
}

TEST(DebuggerTest, GdbInterruptsTheProgramAndNotTheJob) {
  if (run({"/bin/sh", "-c", "gdb --version"}).code != 0) GTEST_SKIP() << "there is no gdb";
  const TemporaryFolder folder;
  Terminal terminal("exec 7<> " + folder.make_fifo("go") +
                        "; $DDPRUN -q -n 2 --stdin 1 --wrap '1:gdb -q -nx --args' sh -c '[ $RANK = "
                        "0 ] && read line < " +
                        (folder / "go") +
                        "; [ $RANK = 0 ] || { echo program is up; exec sleep 100; }; exit 0'; echo "
                        "status $?",
                    {"DEBUGINFOD_URLS="}, std::chrono::seconds(40));
  ASSERT_TRUE(terminal.shows("(gdb)")) << terminal.screen();
  terminal.type("set confirm off\nrun\n");
  ASSERT_TRUE(terminal.shows("program is up")) << terminal.screen();
  terminal.type(kCtrlC);
  ASSERT_TRUE(terminal.shows("SIGINT")) << terminal.screen();
  terminal.type("kill\nshell echo > " + (folder / "go") + "\nquit\n");
  EXPECT_TRUE(terminal.shows("status 0")) << terminal.screen();
}

}  // namespace
}  // namespace ddprun::test
