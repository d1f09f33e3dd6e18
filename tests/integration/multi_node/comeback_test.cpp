// Nodes that are killed and started again: as another process under the same name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/integration/multi_node/nodes.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;

const std::string kWorker = DDPRUN_TEST_WORKER;

void kill_launcher(const Program& ddprun) {
  const pid_t launcher = launcher_of(ddprun);
  if (launcher > 0) ::kill(launcher, SIGKILL);
}

TEST(ComebackTest, ANodeThatIsStartedAgainTakesItsPlaceInANewRound) {
  const FixedJob job(2, {"--max-restarts", "1"});
  const Words command = shell(
      kWorker + " store 1 key >/dev/null; echo up $GROUP_RANK; [ -e $0 ] && exit 0; sleep 60");
  const TemporaryFolder folder;
  const Words marked{command[0], command[1], command[2], folder / "go"};
  const auto first = job.node(0, marked);
  const auto second = job.node(1, marked);
  ASSERT_TRUE(first->wait_for_output("up 0"));
  ASSERT_TRUE(second->wait_for_output("up 1"));
  kill_launcher(*second);
  ASSERT_TRUE(first->wait_for_error("waiting for a replacement, no restart is spent"));
  ASSERT_EQ(run_shell("touch " + (folder / "go")).code, 0);
  const auto again = job.node(1, marked);
  const Finished end = first->finish();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.out, "up 0\nup 0\n");
  EXPECT_EQ(again->finish().out, "up 1\n");
}

TEST(ComebackTest, AWaitingNodeThatIsStartedAgainIsTheSameNode) {
  const FixedJob job(3);
  const auto first = job.node(0, shell("exit 0"));
  const auto second = job.node(1, shell("exit 0"));
  ASSERT_TRUE(first->wait_for_error("node rank 2 is missing"));
  kill_launcher(*second);
  ASSERT_TRUE(first->wait_for_error("node ranks 1-2 are missing"));
  const auto again = job.node(1, shell("exit 0"));
  const auto third = job.node(2, shell("exit 0"));
  for (const auto& node : {first.get(), again.get(), third.get()}) {
    const Finished end = node->finish();
    EXPECT_EQ(end.code, 0) << end.err;
  }
}

// Whatever step of the join it was at.
TEST(ComebackTest, ALauncherMayBeKilledAtAnyMomentOfTheJoin) {
  const FixedJob job(3);
  const auto first = job.node(0, shell("exit 0"));
  ASSERT_TRUE(first->wait_for_error("node ranks 1-2 are missing"));
  for (int step = 0; step < 12; ++step) {
    const auto victim = job.node(1, shell("exit 0"));
    while (launcher_of(*victim) == 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(step * 2));
    kill_launcher(*victim);
    EXPECT_NE(victim->finish().code, 0);
  }
  const auto second = job.node(1, shell("exit 0"));
  const auto third = job.node(2, shell("exit 0"));
  for (const auto& node : {first.get(), second.get(), third.get()}) {
    const Finished end = node->finish();
    EXPECT_EQ(end.code, 0) << end.err;
  }
}

// Not long enough to be lost.
TEST(ComebackTest, AStoppedDdprunThatGoesOnIsStillAMember) {
  const TemporaryFolder folder;
  const std::string go = folder / "go";
  const FixedJob job(2);
  const Words command = shell("echo up; while [ ! -e " + go + " ]; do sleep 0.02; done");
  const auto first = job.node(0, command);
  const auto second = job.node(1, command);
  ASSERT_TRUE(first->wait_for_output("up") && second->wait_for_output("up"));
  for (const auto& node : {first.get(), second.get()}) {
    const pid_t launcher = launcher_of(*node);
    ::kill(launcher, SIGSTOP);
    ASSERT_TRUE(comes_to_state(launcher, 'T'));
    ::kill(launcher, SIGCONT);
  }
  ASSERT_EQ(run_shell("touch " + go).code, 0);
  EXPECT_EQ(first->finish().code, 0);
  EXPECT_EQ(second->finish().code, 0);
}

}  // namespace
}  // namespace ddprun::test
