// Jobs that end well, but not everywhere at the same time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/integration/multi_node/nodes.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(NodeThatCannotBeginTest, EndsAndSoDoTheOthers) {
  const FixedJob job(2);
  const Words command = shell("exec sleep 60");
  const auto first = job.node(0, command);
  const auto second = job.node(1, command, {"--log-dir", "/proc/none"});
  const Finished end = second->finish();
  EXPECT_FALSE(end.timed_out);
  EXPECT_EQ(end.code, 125) << end.err;
  EXPECT_THAT(end.err, HasSubstr("/proc/none"));
  const Finished other = first->finish();
  EXPECT_FALSE(other.timed_out);
  EXPECT_EQ(other.code, 125) << other.err;
}

class UnevenEndTest : public testing::TestWithParam<int> {};

// The node whose work is done stays, and with it what it hosts.
TEST_P(UnevenEndTest, WhoIsDoneStaysUntilTheLastNodeIs) {
  const TemporaryFolder folder;
  const std::string pipe = folder.make_fifo("go");
  const std::string early = std::to_string(GetParam());
  const FixedJob job(2);
  const Words command = shell("[ $RANK = " + early + " ] && exit 0; read x < " + pipe + "; exec " +
                              DDPRUN_TEST_WORKER + " words late");
  const auto first = job.node(0, command);
  const auto second = job.node(1, command);
  const auto& done = GetParam() == 0 ? first : second;
  const auto& working = GetParam() == 0 ? second : first;
  ASSERT_TRUE(done->wait_for_error("all workers of this node have ended with 0"));
  ASSERT_EQ(run_shell("echo > " + pipe).code, 0);
  const Finished late = working->finish();
  EXPECT_EQ(late.code, 0) << late.err;
  EXPECT_THAT(late.out, HasSubstr("[late]"));
  const Finished early_end = done->finish();
  EXPECT_EQ(early_end.code, 0) << early_end.err;
  EXPECT_THAT(early_end.err, Not(HasSubstr("roken pipe")));
}

TEST_P(UnevenEndTest, ASignalStillEndsWhoIsDone) {
  const std::string early = std::to_string(GetParam());
  const FixedJob job(2);
  const Words command = shell("[ $RANK = " + early + " ] && exit 0; exec sleep 60");
  const auto first = job.node(0, command);
  const auto second = job.node(1, command);
  const auto& done = GetParam() == 0 ? first : second;
  const auto& working = GetParam() == 0 ? second : first;
  ASSERT_TRUE(done->wait_for_error("all workers of this node have ended with 0"));
  ::kill(done->pid(), SIGINT);
  EXPECT_EQ(done->finish().signal, SIGINT);
  const Finished end = working->finish();
  EXPECT_EQ(end.code, 128 + SIGINT) << end.err;
  EXPECT_THAT(end.err, HasSubstr("left: stopped by SIGINT"));
}

// As scancel does it on a cluster, where one of the nodes is always the first to hear.
TEST_P(UnevenEndTest, AStopSignalIsTheSameForAllWhereTheJobCannotGoOn) {
  const FixedJob job(2);
  const Words command = shell("echo working; exec sleep 60");
  const auto first = job.node(0, command);
  const auto second = job.node(1, command);
  const auto& told = GetParam() == 0 ? first : second;
  const auto& other = GetParam() == 0 ? second : first;
  ASSERT_TRUE(first->wait_for_output("working"));
  ASSERT_TRUE(second->wait_for_output("working"));
  ::kill(told->pid(), SIGTERM);
  EXPECT_EQ(told->finish().signal, SIGTERM);
  const Finished end = other->finish();
  EXPECT_EQ(end.code, 128 + SIGTERM) << end.err;
  EXPECT_THAT(end.err, HasSubstr("stopped by SIGTERM"));
  EXPECT_THAT(end.err, Not(HasSubstr("nodes are needed")));
}

// The same where the job could go on, and the node with the server hears first.
TEST(EndTest, AStopSignalToAllIsNoLossOfTheHost) {
  const ArrivalJob job("2:3", {"--rdzv-conf", "last_call_timeout=0.1"});
  const Words command = shell(
      "trap 'echo stopping; sleep 1; exit 0' TERM; echo working; while :; do sleep 0.1; done");
  const auto host = job.node(command);
  ASSERT_TRUE(host->wait_for_error("1 of 2 to 3 nodes are here"));
  const auto other = job.node(command);
  ASSERT_TRUE(host->wait_for_output("working"));
  ASSERT_TRUE(other->wait_for_output("working"));
  ::kill(host->pid(), SIGTERM);
  ASSERT_TRUE(other->wait_for_output("stopping")) << "the host is gone";
  ::kill(other->pid(), SIGTERM);
  EXPECT_EQ(host->finish().signal, SIGTERM);
  const Finished end = other->finish();
  EXPECT_EQ(end.signal, SIGTERM) << end.err;
}

INSTANTIATE_TEST_SUITE_P(OnEitherNode, UnevenEndTest, testing::Values(0, 1));

}  // namespace
}  // namespace ddprun::test
