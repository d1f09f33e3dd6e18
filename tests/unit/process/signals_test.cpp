// Real processes that are stopped and continued.
#include "launcher/process/signals.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <sstream>

#include "launcher/process/children.h"

namespace ddprun::process {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// The kernel tells only a parent that a process has stopped, and nobody that it runs again.
bool comes_to(bool stopped, pid_t pid) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (is_stopped(pid) != stopped) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

// A shell with a child, which has a child in a session of its own: their pids from the top.
class StopDescendantsTest : public testing::Test {
 protected:
  void SetUp() override {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    if (::fork() == 0) {
      ::dup2(ends[1], 1);
      ::execl("/bin/sh", "sh", "-c",
              "sh -c 'setsid sh -c \"echo \\$PPID \\$\\$; exec sleep 300\" & wait' & echo $$; wait",
              nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    FILE* const lines = ::fdopen(ends[0], "r");
    char line[64];
    for (int i = 0; i < 2 && std::fgets(line, sizeof line, lines) != nullptr; ++i) {
      std::istringstream words(line);
      std::vector<pid_t> pids;
      for (pid_t pid = 0; words >> pid;) pids.push_back(pid);
      if (pids.size() == 1) top_ = pids[0];
      if (pids.size() == 2) middle_ = pids[0], bottom_ = pids[1];
    }
    std::fclose(lines);
    ASSERT_TRUE(top_ > 0 && middle_ > 0 && bottom_ > 0);
  }
  void TearDown() override { kill_all_children({}, 5000); }

  pid_t top_ = 0, middle_ = 0, bottom_ = 0;
};

TEST_F(StopDescendantsTest, AllDescendantsAreStoppedFromTheTopAndContinued) {
  const auto stopped = stop_descendants();
  EXPECT_THAT(stopped, ElementsAre(top_, middle_, bottom_));
  for (pid_t pid : stopped) EXPECT_TRUE(comes_to(true, pid));
  continue_descendants(stopped);
  for (pid_t pid : stopped) EXPECT_TRUE(comes_to(false, pid));
}

TEST_F(StopDescendantsTest, WhoWasStoppedBeforeStaysStopped) {
  ::kill(middle_, SIGSTOP);
  ASSERT_TRUE(comes_to(true, middle_));
  const auto stopped = stop_descendants();
  EXPECT_THAT(stopped, UnorderedElementsAre(top_, bottom_));
  continue_descendants(stopped);
  EXPECT_TRUE(comes_to(false, bottom_));
  EXPECT_TRUE(is_stopped(middle_));
}

}  // namespace
}  // namespace ddprun::process
