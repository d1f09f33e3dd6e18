// Whatever is killed, nothing of the job is left; and nobody else is touched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "launcher/process/children.h"
#include "rendezvous/base/command_of.h"
#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

// Words that no other process has in its command line.
std::string marker() {
  return "7" + std::to_string(::getpid()) + "." + std::to_string(::rand());
}

// A worker with a child, a grandchild in a session of its own and a daemon with an emptied
// environment.
std::string family(const std::string& mark) {
  return "sleep " + mark + " & (setsid sleep " + mark +
         " &) ; (env -i /usr/bin/setsid /bin/sh -c 'trap \"\" TERM HUP; sleep " + mark +
         "; :' &) ; echo up $RANK; wait";
}

class KillTest : public testing::TestWithParam<bool> {};

TEST_P(KillTest, OneOfOurTwoProcessesLeavesNothing) {
  const std::string mark = marker();
  Program program(ddprun_words({"-n", "2", "sh", "-c", family(mark)}));
  ASSERT_TRUE(program.wait_for_output("up 0") && program.wait_for_output("up 1"));
  const auto children = process::children_of(program.pid());
  ASSERT_EQ(children.size(), 1U) << "the guardian has one child, the launcher";
  const bool kill_guardian = GetParam();
  ::kill(kill_guardian ? program.pid() : children.front(), SIGKILL);
  // One second is promised; a loaded test machine gets another.
  EXPECT_TRUE(nobody_has(mark, seconds(2)));
  const Finished end = program.finish();
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_EQ(end.err.find("the launcher was killed") == std::string::npos, kill_guardian);
}

INSTANTIATE_TEST_SUITE_P(Which, KillTest, testing::Bool(),
                         [](const auto& chosen) { return chosen.param ? "guardian" : "launcher"; });

// Kills the launcher of a job of two workers once both have run `script`.
Finished kill_launcher(const RunOptions& options, const std::string& script) {
  Program program(ddprun_words({"-n", "2", "sh", "-c", script + "; echo up $RANK; sleep 30"}),
                  options);
  EXPECT_TRUE(program.wait_for_output("up 0") && program.wait_for_output("up 1"));
  ::kill(process::children_of(program.pid()).front(), SIGKILL);
  return program.finish();
}

std::vector<std::string> entries(const std::string& folder) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    found.push_back(entry.path().filename());
  return found;
}

TEST(OrphansTest, AKilledLaunchersDirectoryGoes) {
  const TemporaryFolder folder;
  EXPECT_EQ(kill_launcher({.environment = {"TMPDIR=" + folder.path()}}, ":").signal, SIGKILL);
  EXPECT_EQ(entries(folder.path()).size(), 1U) << "the folder of all runs of this user";
}

TEST(OrphansTest, FilesInAKilledLaunchersDirectoryStay) {
  const TemporaryFolder folder;
  kill_launcher({.environment = {"TMPDIR=" + folder.path()}},
                "[ $RANK = 0 ] || : > $TORCHELASTIC_ERROR_FILE");
  const auto found = entries(folder.path());
  EXPECT_THAT(found, testing::Contains("error.json"));
  EXPECT_THAT(found, testing::Not(testing::Contains("0"))) << "rank 0 has left nothing";
}

TEST(OrphansTest, WhatAFailedWorkerLeavesIsStoppedAndNamed) {
  const std::string mark = marker();
  const Finished end =
      ddprun({"sh", "-c", "sleep " + mark + " & (setsid sleep " + mark + " &); exit 3"});
  EXPECT_EQ(end.code, 3);
  EXPECT_THAT(pids_with(mark), testing::IsEmpty());
  EXPECT_THAT(end.err, HasSubstr("stopped 2 processes that workers had left"));
  EXPECT_LT(end.took.count(), 2000) << "sleep ends by SIGTERM and needs no grace";
}

// Starts `script` in a session of its own and exits with 0 once that has made the file `ready`.
std::string leave_behind(const TemporaryFolder& folder, const std::string& script) {
  return "cd " + folder.path() + "; (setsid sh -c '" + script +
         "' &); while ! [ -e ready ]; do :; done; exit 0";
}

TEST(OrphansTest, WhatASuccessfulWorkerLeavesIsStoppedAsWell) {
  const TemporaryFolder folder;
  const std::string mark = marker();
  const Finished end = ddprun(
      {"sh", "-c", leave_behind(folder, "trap \"\" TERM; : > ready; sleep " + mark + "; :")});
  EXPECT_EQ(end.code, 0);
  EXPECT_THAT(pids_with(mark), testing::IsEmpty());
}

TEST(OrphansTest, WhatAWorkerLeftThatEndedLongBeforeTheOthersIsStoppedWithTheJob) {
  const std::string mark = marker();
  Program program(ddprun_words({"-q", "-n", "2", "sh", "-c",
                                "if [ $RANK = 0 ]; then (setsid sleep " + mark + " &) ; sleep " +
                                    mark + " & exit 0; fi; echo up; exec sleep 100"}));
  ASSERT_TRUE(program.wait_for_output("up"));
  const pid_t launcher = process::children_of(program.pid()).at(0);
  // Rank 1 and the two that rank 0 has left are the launcher's children once rank 0 is gone.
  const auto deadline = std::chrono::steady_clock::now() + seconds(10);
  while (process::children_of(launcher).size() != 3 && std::chrono::steady_clock::now() < deadline)
    ::poll(nullptr, 0, 5);
  ASSERT_EQ(process::children_of(launcher).size(), 3U);
  ::kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().signal, SIGTERM);
  EXPECT_THAT(pids_with(mark), testing::IsEmpty());
}

// A data loader whose trainer is gone: it holds both ends of the pipe, so no SIGPIPE ends it.
TEST(OrphansTest, AGrandchildThatBlocksWritingAPipeOfItsOwnIsGone) {
  const std::string mark = marker();
  const TemporaryFolder folder;
  const std::string fifo = folder.make_fifo("queue");
  for (const int signo : {SIGTERM, SIGKILL}) {
    Program program(ddprun_words(
        {"-q", "sh", "-c",
         "(exec setsid sh -c 'trap \"\" TERM HUP; exec 7<> " + fifo +
             "; echo $$; dd if=/dev/zero bs=1M count=1 of=/dev/fd/7 2> /dev/null; : " + mark +
             "' &); exec sleep " + mark}));
    ASSERT_TRUE(program.wait_for_output("\n"));
    const pid_t loader = std::stoi(program.out());
    const auto writer = [loader] {
      const auto children = process::children_of(loader);
      return children.empty() ? 0 : children.front();
    };
    while (writer() == 0 || !comes_to_state(writer(), 'S', milliseconds(100))) {
    }
    ::kill(program.pid(), signo);
    EXPECT_TRUE(nobody_has(mark, seconds(5))) << signo;
    EXPECT_FALSE(process::is_alive(loader)) << signo;
    EXPECT_EQ(program.finish().signal, signo);
  }
}

TEST(OrphansTest, ChildrenThatWereThereBeforeUsAreNotOurs) {
  const std::string mark = marker();
  std::string words;
  for (const std::string& word : ddprun_words({"sh", "-c", "'exit 3'"})) words += " " + word;
  const Finished end = run({"/bin/sh", "-c", "sleep " + mark + " > /dev/null 2>&1 & exec" + words});
  EXPECT_EQ(end.code, 3);
  const auto alive = pids_with(mark);
  ASSERT_EQ(alive.size(), 1U);
  ::kill(alive.front(), SIGKILL);
}

TEST(OrphansTest, ASiblingOfOursIsNotTouchedWhenTheLauncherIsKilled) {
  const std::string mark = marker();
  Program bystander({"/bin/sleep", mark});
  Program program(ddprun_words({"sh", "-c", "echo up; sleep 100"}));
  ASSERT_TRUE(program.wait_for_output("up"));
  ::kill(process::children_of(program.pid()).at(0), SIGKILL);
  program.finish();
  EXPECT_THAT(pids_with(mark), testing::ElementsAre(bystander.pid()));
}

TEST(OrphansTest, OneNameForBothWouldLoseBoth) {
  Program program(ddprun_words({"sh", "-c", "echo up; sleep 100"}));
  ASSERT_TRUE(program.wait_for_output("up"));
  const pid_t launcher = process::children_of(program.pid()).at(0);
  EXPECT_THAT(command_of(launcher), testing::Not(HasSubstr("ddprun")));
  std::ifstream comm("/proc/" + std::to_string(launcher) + "/comm");
  std::string name;
  comm >> name;
  EXPECT_THAT(name, testing::Not(HasSubstr("ddprun")));
}

TEST(OrphansTest, AGrandchildThatHoldsTheOutputDoesNotKeepUs) {
  const TemporaryFolder folder;
  const Finished end = ddprun(
      {"sh", "-c", leave_behind(folder, "trap \"\" TERM; echo held; : > ready; sleep 50; :")});
  EXPECT_EQ(end.code, 0);
  EXPECT_THAT(end.out, HasSubstr("held"));
  EXPECT_LT(end.took.count(), 10'000);
}

TEST(OrphansTest, WithoutItsGuardianTheLauncherDoesNotWaitForAReader) {
  Program program(ddprun_words({"sh", "-c", "echo up; exec yes"}));
  ASSERT_TRUE(program.wait_for_output("up"));
  const pid_t launcher = process::children_of(program.pid()).at(0);
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, launcher, 0)));
  ::kill(program.pid(), SIGKILL);
  pollfd ended{pidfd.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, 10'000), 1);
}

}  // namespace
}  // namespace ddprun::test
