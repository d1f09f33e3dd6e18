#include "launcher/guardian/guardian.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ddprun::guardian {
namespace {

// Of a child that stops, as it is first seen: it has stopped, or has exited.
int status_of_a_child_that_stops(bool was_continued) {
  const pid_t child = ::fork();
  if (child == 0) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCONT);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    if (was_continued) ::raise(SIGCONT);
    stop_until_continued(-1);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, WUNTRACED);
  if (!WIFSTOPPED(status)) return status;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return status;
}

TEST(StopUntilContinued, Stops) {
  EXPECT_TRUE(WIFSTOPPED(status_of_a_child_that_stops(false)));
}

// A host whose Ctrl-Z takes long: `fg` comes before it has stopped, and would come to nobody.
TEST(StopUntilContinued, GoesOnWhereItWasContinuedAlready) {
  EXPECT_TRUE(WIFEXITED(status_of_a_child_that_stops(true)));
}

}  // namespace
}  // namespace ddprun::guardian
