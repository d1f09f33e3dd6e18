// New rounds: restarts, nodes that come and nodes that go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "rendezvous/base/read_file.h"
#include "tests/integration/multi_node/nodes.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

const std::string kWorker = DDPRUN_TEST_WORKER;

// The same keys in every round: a store that is not fresh would let nobody wait.
const std::string kMeet = kWorker + " store 3 same-keys >/dev/null || exit 9; ";

TEST(RestartTest, OneBudgetForAllNodes) {
  const FixedJob job(2, {"--max-restarts", "1", "--restart-backoff", "0"});
  const Words command = shell(
      kMeet + "echo $RANK in $TORCHELASTIC_RESTART_COUNT; [ $RANK = 1 ] && exit 4; exec sleep 60");
  const auto second = job.node(1, command);
  const Finished first = job.node(0, command)->finish();
  const Finished other = second->finish();
  for (const Finished& end : {first, other}) {
    EXPECT_EQ(end.code, 4) << end.err;
    EXPECT_THAT(end.err, HasSubstr("restart 1 of 1 follows"));
    EXPECT_THAT(end.err, HasSubstr("rank 1 failed first: exit code 4"));
    EXPECT_THAT(end.err, ContainsRegex("  attempt 0: rank 1 failed first on node .*: exit code 4"));
  }
  EXPECT_THAT(other.out, HasSubstr("1 in 0\n1 in 1\n"));
}

TEST(RestartTest, ASecondRoundThatWorksEndsWell) {
  const FixedJob job(2, {"--max-restarts", "3", "--restart-backoff", "0"});
  const Words command = shell(kMeet + "exit $((1 - TORCHELASTIC_RESTART_COUNT))");
  const auto second = job.node(1, command);
  const Finished first = job.node(0, command)->finish();
  EXPECT_EQ(first.code, 0);
  EXPECT_THAT(first.err, HasSubstr("all workers ended with 0, after 1 restart"));
  EXPECT_EQ(second->finish().code, 0);
}

TEST(RestartTest, ANodeThatHadFinishedTakesPartAgain) {
  const FixedJob job(2, {"--max-restarts", "1", "--restart-backoff", "0"});
  const TemporaryFolder folder;
  const std::string pipe = folder.make_fifo("finished");
  // Rank 0 fails once rank 1 has ended.
  const Words command = shell(kMeet +
                              "echo round $TORCHELASTIC_RESTART_COUNT; "
                              "[ $TORCHELASTIC_RESTART_COUNT = 1 ] && exit 0; "
                              "[ $RANK = 1 ] && exit 0; read x < " +
                              pipe + "; exit 5");
  const auto second = job.node(1, command);
  const auto first = job.node(0, command);
  ASSERT_TRUE(second->wait_for_error("all workers of this node have ended with 0"));
  ASSERT_EQ(run_shell("echo > " + pipe).code, 0);
  EXPECT_EQ(first->finish().code, 0);
  const Finished end = second->finish();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.out, "round 0\nround 1\n");
}

TEST(ElasticTest, ANewcomerMakesTheWorldLarger) {
  const ArrivalJob job("1:2", {"--rdzv-conf", "last_call_timeout=0.1"});
  const Words command = shell(
      "echo world $WORLD_SIZE restarts $TORCHELASTIC_RESTART_COUNT; "
      "[ $WORLD_SIZE = 2 ] || exec sleep 60");
  const auto first = job.node(command);
  ASSERT_TRUE(first->wait_for_output("world 1 restarts 0"));
  const auto second = job.node(command);
  const Finished end = first->finish();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.out, "world 1 restarts 0\nworld 2 restarts 0\n");
  EXPECT_EQ(second->finish().code, 0);
}

TEST(ElasticTest, ASpareEndsWithTheJob) {
  const TemporaryFolder folder;
  // A reader each: one that shares its pipe may read the other one's end of file.
  const std::string pipe_a = folder.make_fifo("a");
  const std::string pipe_b = folder.make_fifo("b");
  const ArrivalJob two("2");
  const auto a = two.node(shell("echo up; read x < " + pipe_a));
  const auto b = two.node(shell("echo up; read x < " + pipe_b));
  ASSERT_TRUE(a->wait_for_output("up") && b->wait_for_output("up"));
  const std::string report = folder / "report.json";
  const auto spare = two.node(shell("echo never; exit 1"), {"--report", report});
  ASSERT_TRUE(spare->wait_for_error("this node is a spare"));
  ASSERT_EQ(run_shell("echo > " + pipe_a + "; echo > " + pipe_b).code, 0);
  EXPECT_EQ(a->finish().code, 0);
  EXPECT_EQ(b->finish().code, 0);
  const Finished end = spare->finish();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.out, "");
  const std::string last = "this node was a spare and started no worker";
  EXPECT_THAT(lines(end.err).back(), EndsWith("have ended with 0; " + last));
  EXPECT_THAT(read_file(report).value_or(""),
              AllOf(HasSubstr("\"cause\": \"success\""), HasSubstr(last)));
}

TEST(ElasticTest, ASpareStepsInForALostNode) {
  const ArrivalJob job("2", {"--max-restarts", "1"});
  const Words command = shell("echo up $WORLD_SIZE $TORCHELASTIC_RESTART_COUNT; exec sleep 60");
  const auto a = job.node(command);
  // It hosts the server.
  ASSERT_TRUE(a->wait_for_error("1 of 2 nodes"));
  const auto b = job.node(command);
  ASSERT_TRUE(a->wait_for_output("up 2 0") && b->wait_for_output("up 2 0"));
  const auto spare = job.node(command);
  ASSERT_TRUE(spare->wait_for_error("this node is a spare"));
  ::kill(launcher_of(*b), SIGKILL);
  ASSERT_TRUE(spare->wait_for_output("up 2 0"));
  ::kill(a->pid(), SIGTERM);
  EXPECT_EQ(a->finish().signal, SIGTERM);
  EXPECT_EQ(spare->finish().code, 125);
}

TEST(ElasticTest, WithoutTheMinimumTheOthersGoOn) {
  const ArrivalJob job("1:3", {"--rdzv-conf", "last_call_timeout=5"});
  const Words command = shell("echo up $WORLD_SIZE; [ $WORLD_SIZE = 2 ] || exec sleep 60");
  const auto a = job.node(command);
  // It hosts the server.
  ASSERT_TRUE(a->wait_for_error("1 of 1 to 3 nodes"));
  const auto b = job.node(command);
  const auto c = job.node(command);
  ASSERT_TRUE(a->wait_for_output("up 3") && b->wait_for_output("up 3") &&
              c->wait_for_output("up 3"));
  ::kill(launcher_of(*c), SIGKILL);
  const Finished end = b->finish();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("a new round follows, no restart is spent"));
  EXPECT_THAT(end.err, Not(HasSubstr("failed first")));
  EXPECT_EQ(a->finish().code, 0);
}

}  // namespace
}  // namespace ddprun::test
