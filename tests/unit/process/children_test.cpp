// Families of real processes.
#include "launcher/process/children.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ddprun::process {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

// A child shell that has written one line once everything it starts is there.
class Family {
 public:
  explicit Family(const char* script) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    pid = ::fork();
    if (pid == 0) {
      ::dup2(ends[1], 1);
      ::execl("/bin/sh", "sh", "-c", script, nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    char byte = 0;
    while (::read(ends[0], &byte, 1) == 1 && byte != '\n') text += byte;
    ::close(ends[0]);
  }
  pid_t pid = 0;
  std::string text;
};

TEST(ChildrenTest, DescendantsOfAllGenerationsAreFound) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const Family family("sh -c 'sh -c \"echo \\$\\$; sleep 300; :\" & wait' & wait");
  const pid_t sleeper = std::stoi(family.text);
  EXPECT_THAT(children_of(::getpid()), ElementsAre(family.pid));
  EXPECT_THAT(descendants_of(::getpid()), Contains(sleeper));
  EXPECT_THAT(kill_all_children({}, 5000), IsEmpty());
  EXPECT_FALSE(is_alive(sleeper));
  EXPECT_THAT(children_of(::getpid()), IsEmpty());
}

TEST(ChildrenTest, AProcessThatLeftItsSessionItsParentAndItsEnvironmentIsKilledToo) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const Family family("(env -i setsid sh -c 'echo $$; sleep 301; :' &) ; wait");
  const pid_t sleeper = std::stoi(family.text);
  kill_all_children({}, 5000);
  EXPECT_FALSE(is_alive(sleeper));
}

TEST(ChildrenTest, WhatIsSparedLives) {
  const Family mine("echo; sleep 302");
  const Family other("echo; exec sleep 303");
  kill_all_children({other.pid}, 5000);
  EXPECT_FALSE(is_alive(mine.pid));
  EXPECT_TRUE(is_alive(other.pid));
  kill_all_children({}, 5000);
  EXPECT_FALSE(is_alive(other.pid));
}

// A child that traces its sibling `other`, as a debugger does, once this has returned.
pid_t trace(pid_t other) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t tracer = ::fork();
  if (tracer == 0) {
    const char failed = ::ptrace(PTRACE_SEIZE, other, 0, 0) == 0 ? '0' : '1';
    if (::write(ends[1], &failed, 1) == 1) ::pause();
    ::_exit(1);
  }
  char failed = '1';
  EXPECT_EQ(::read(ends[0], &failed, 1), 1);
  EXPECT_EQ(failed, '0');
  ::close(ends[0]);
  ::close(ends[1]);
  return tracer;
}

TEST(ChildrenTest, WhatADebuggerHoldsIsDeadAllTheSame) {
  const pid_t traced = ::fork();
  if (traced == 0) {
    ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    ::raise(SIGSTOP);
    for (;;) ::pause();
  }
  ASSERT_EQ(::waitpid(traced, nullptr, WUNTRACED), traced);
  const pid_t debugger = trace(traced);
  EXPECT_THAT(kill_all_children({debugger}, 50), IsEmpty());
  EXPECT_FALSE(is_alive(traced));
  EXPECT_THAT(kill_all_children({}, 5000), IsEmpty());
  EXPECT_THAT(children_of(::getpid()), IsEmpty()) << "it was reaped when the debugger let go";
}

TEST(ChildrenTest, AProcessThatIsGoneHasNoChildren) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  ::waitpid(pid, nullptr, 0);
  EXPECT_THAT(children_of(pid), IsEmpty());
  EXPECT_FALSE(is_alive(pid));
}

}  // namespace
}  // namespace ddprun::process
