#include "tests/bench/observed_process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <system_error>

#include "rendezvous/base/unique_fd.h"

namespace ddprun::bench {
namespace {

const std::vector<std::string> kSleep{"/bin/sleep", "60"};

bool ends(int pidfd) {
  pollfd ended{pidfd, POLLIN, 0};
  return ::poll(&ended, 1, 10'000) == 1;
}

TEST(ObservedProcessTest, TellsHowItEnded) {
  EXPECT_EQ(ObservedProcess({"/bin/sh", "-c", "exit 7"}).wait(), 7);
  EXPECT_EQ(ObservedProcess({"/bin/sh", "-c", "kill -TERM $$"}).wait(), 128 + SIGTERM);
}

TEST(ObservedProcessTest, AMissingProgramIsToldAtOnce) {
  EXPECT_THROW(ObservedProcess({"/no/such/program"}), std::system_error);
}

TEST(ObservedProcessTest, WaitsNoLongerThanItWasTold) {
  ObservedProcess sleeper(kSleep);
  EXPECT_THROW(sleeper.wait(0), std::runtime_error);
}

// As a benchmark that is killed.
TEST(ObservedProcessTest, EndsWithTheProcessThatStartedIt) {
  std::array<int, 2> pipe;
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t bench = ::fork();
  if (bench == 0) {
    const ObservedProcess sleeper(kSleep);
    const pid_t pid = sleeper.pid();
    if (::write(pipe[1], &pid, sizeof pid) != sizeof pid) ::_exit(1);
    for (;;) ::pause();
  }
  pid_t sleeper = 0;
  ASSERT_EQ(::read(pipe[0], &sleeper, sizeof sleeper), static_cast<ssize_t>(sizeof sleeper));
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, sleeper, 0)));
  ASSERT_TRUE(pidfd);
  ::kill(bench, SIGKILL);
  ::waitpid(bench, nullptr, 0);
  EXPECT_TRUE(ends(pidfd.get()));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

}  // namespace
}  // namespace ddprun::bench
