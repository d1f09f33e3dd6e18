// A node is lost: its ddprun was killed, or was stopped, or hosted the server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/integration/multi_node/nodes.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;

const Words kSleep = shell("echo up; exec sleep 60");

struct Pair {
  std::unique_ptr<Program> first, second;
};

Pair run_two(const Words& options = {}) {
  const FixedJob job(2, options);
  Pair nodes{job.node(0, kSleep), job.node(1, kSleep)};
  EXPECT_TRUE(nodes.first->wait_for_output("up"));
  EXPECT_TRUE(nodes.second->wait_for_output("up"));
  return nodes;
}

void kill_both_processes(const Program& ddprun) {
  const pid_t launcher = launcher_of(ddprun);
  ASSERT_GT(launcher, 0);
  ::kill(launcher, SIGKILL);
}

TEST(LostNodeTest, AKilledDdprunEndsTheOthersWithItsName) {
  const Pair nodes = run_two();
  kill_both_processes(*nodes.second);
  const Finished end = nodes.first->finish();
  EXPECT_EQ(end.code, 125) << end.err;
  EXPECT_THAT(end.err, HasSubstr("ddprun: node "));
  EXPECT_THAT(end.err, HasSubstr(" is lost: it has closed its connection"));
  EXPECT_LT(end.took.count(), 15'000);
}

TEST(LostNodeTest, TheServersHostIsNamedWhenItIsKilled) {
  const Pair nodes = run_two();
  kill_both_processes(*nodes.first);
  const Finished end = nodes.second->finish();
  EXPECT_EQ(end.code, 125) << end.err;
  EXPECT_THAT(end.err, HasSubstr(", which hosts the rendezvous, is lost: its connection was "));
}

TEST(LostNodeTest, AStoppedDdprunIsLostWhenItIsSilent) {
  const Pair nodes = run_two({"--rdzv-conf", "keep_alive_interval=0.2,keep_alive_max_attempt=2"});
  const pid_t launcher = launcher_of(*nodes.second);
  ::kill(launcher, SIGSTOP);
  const Finished end = nodes.first->finish();
  EXPECT_EQ(end.code, 125) << end.err;
  EXPECT_THAT(end.err, HasSubstr("it did not answer 2 pings"));
  ::kill(launcher, SIGCONT);
  EXPECT_EQ(nodes.second->finish().code, 125);
}

TEST(LostNodeTest, AStoppedServerIsLostWhenItIsSilent) {
  const Pair nodes = run_two({"--rdzv-conf", "keep_alive_interval=0.2,keep_alive_max_attempt=2"});
  const pid_t launcher = launcher_of(*nodes.first);
  ::kill(launcher, SIGSTOP);
  const Finished end = nodes.second->finish();
  EXPECT_EQ(end.code, 125) << end.err;
  EXPECT_THAT(end.err, HasSubstr("is lost: it was silent for 0.4 s"));
  ::kill(launcher, SIGCONT);
  EXPECT_EQ(nodes.first->finish().code, 125);
}

// As by a scheduler that suspends the job: nobody was there to be heard.
TEST(LostNodeTest, NobodyIsLostWhereAllWereStopped) {
  const TemporaryFolder folder;
  const std::string go = folder / "go";
  const FixedJob job(2, {"--rdzv-conf", "keep_alive_interval=0.1,keep_alive_max_attempt=10"});
  const Words command = shell("echo up; while [ ! -e " + go + " ]; do sleep 0.02; done");
  const auto first = job.node(0, command);
  const auto second = job.node(1, command);
  ASSERT_TRUE(first->wait_for_output("up") && second->wait_for_output("up"));
  const pid_t launchers[] = {launcher_of(*first), launcher_of(*second)};
  for (const pid_t launcher : launchers) ::kill(launcher, SIGSTOP);
  for (const pid_t launcher : launchers) ASSERT_TRUE(comes_to_state(launcher, 'T'));
  EXPECT_FALSE(comes_to_state(launchers[0], 'S', std::chrono::seconds(3)));
  // The one that hosts the server comes last.
  ::kill(launchers[1], SIGCONT);
  ASSERT_TRUE(comes_to_state(launchers[1], 'S'));
  ::kill(launchers[0], SIGCONT);
  ASSERT_EQ(run_shell("touch " + go).code, 0);
  for (const auto& node : {first.get(), second.get()}) {
    const Finished end = node->finish();
    EXPECT_EQ(end.code, 0) << end.err;
  }
}

TEST(LostNodeTest, ASignalToOneNodeEndsItByThatSignalAndTheOthersWithItsCode) {
  for (const bool host : {false, true}) {
    const Pair nodes = run_two();
    const auto& leaving = host ? nodes.first : nodes.second;
    const auto& other = host ? nodes.second : nodes.first;
    ::kill(leaving->pid(), SIGINT);
    EXPECT_EQ(leaving->finish().signal, SIGINT);
    const Finished end = other->finish();
    EXPECT_EQ(end.code, 128 + SIGINT) << end.err;
    EXPECT_THAT(end.err, HasSubstr("stopped by SIGINT"));
  }
}

}  // namespace
}  // namespace ddprun::test
