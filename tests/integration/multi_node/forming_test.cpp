// Nodes meet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/integration/multi_node/nodes.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kWorker = DDPRUN_TEST_WORKER;

// Meets all ranks in the store and says who it is.
const std::string kMeet =
    kWorker +
    " store 3 key >/dev/null && echo r=$RANK l=$LOCAL_RANK g=$GROUP_RANK "
    "w=$WORLD_SIZE n=$GROUP_WORLD_SIZE at=$MASTER_ADDR:$MASTER_PORT id=$TORCHELASTIC_RUN_ID";

TEST(FixedFormingTest, TwoNodesAreOneWorld) {
  const FixedJob job(2, {"--rdzv-id", "job7"});
  const auto second = job.node(1, shell(kMeet), {"-n", "1"});
  const auto first = job.node(0, shell(kMeet), {"-n", "2"});
  const Finished one = first->finish();
  const Finished two = second->finish();
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(two.code, 0) << two.err;
  const std::string rest = " w=3 n=2 at=127.0.0.1:" + job.port() + " id=job7\n";
  EXPECT_THAT(one.out, AllOf(HasSubstr("r=0 l=0 g=0" + rest), HasSubstr("r=1 l=1 g=0" + rest)));
  EXPECT_EQ(two.out, "r=2 l=0 g=1" + rest);
  EXPECT_THAT(one.err, HasSubstr("the nodes have different numbers of workers"));
}

TEST(FixedFormingTest, ThreeNodesHaveTheRanksTheyWereGiven) {
  const FixedJob job(3);
  const auto c = job.node(2, shell(kMeet));
  const auto b = job.node(1, shell(kMeet));
  const auto a = job.node(0, shell(kMeet));
  EXPECT_THAT(a->finish().out, HasSubstr("r=0 l=0 g=0 w=3 n=3"));
  EXPECT_THAT(b->finish().out, HasSubstr("r=1 l=0 g=1 w=3 n=3"));
  EXPECT_THAT(c->finish().out, HasSubstr("r=2 l=0 g=2 w=3 n=3"));
}

TEST(FixedFormingTest, WhoIsMissingIsSaid) {
  const FixedJob job(3, {"--rdzv-conf", "join_timeout=3"});
  const auto first = job.node(0, shell("exit 0"));
  const auto third = job.node(2, shell("exit 0"));
  const Finished one = first->finish();
  const Finished three = third->finish();
  for (const Finished& end : {one, three}) {
    EXPECT_EQ(end.code, 125);
    EXPECT_THAT(end.err, AllOf(HasSubstr("2 of 3 nodes are here "),
                               HasSubstr("node rank 1 is missing; waited ")));
    EXPECT_THAT(end.err, HasSubstr("gave up after 3 s (join_timeout): "));
  }
}

TEST(FixedFormingTest, ADuplicateNodeRankIsRefusedAtOnce) {
  const FixedJob job(2);
  const auto first = job.node(0, shell("exit 0"));
  ASSERT_TRUE(first->wait_for_error("node rank 1 is missing"));
  const Finished twin = job.node(0, shell("exit 0"))->finish();
  EXPECT_EQ(twin.code, 125);
  EXPECT_THAT(twin.err, HasSubstr("node rank 0 of run none is taken: "));
  const auto second = job.node(1, shell("exit 0"));
  EXPECT_EQ(first->finish().code, 0);
  EXPECT_EQ(second->finish().code, 0);
}

TEST(FixedFormingTest, AnotherNumberOfNodesIsRefusedAtOnce) {
  const FixedJob job(2);
  const auto first = job.node(0, shell("exit 0"));
  ASSERT_TRUE(first->wait_for_error("node rank 1 is missing"));
  const Finished other = job.node(1, shell("exit 0"), {"--nnodes", "3"})->finish();
  EXPECT_EQ(other.code, 125);
  EXPECT_THAT(other.err, AllOf(HasSubstr("3"), HasSubstr("2"), HasSubstr("nodes")));
  ::kill(first->pid(), SIGTERM);
  EXPECT_EQ(first->finish().signal, SIGTERM);
}

TEST(FixedFormingTest, NobodyThereIsSaidAndGivenUpInTime) {
  const FixedJob job(2, {"--rdzv-conf", "join_timeout=2"});
  const Finished end = job.node(1, shell("exit 0"))->finish();
  EXPECT_EQ(end.code, 125);
  EXPECT_THAT(end.err, HasSubstr("waiting for the rendezvous at 127.0.0.1:" + job.port() +
                                 ": connection refused"));
  EXPECT_THAT(end.err, HasSubstr("could not be reached within 2 s: connection refused"));
}

TEST(FixedFormingTest, ARankOfAnotherNodeReadsItsStdinThere) {
  const FixedJob job(2);
  const TemporaryFolder folder;
  ASSERT_EQ(run_shell("echo hello > " + (folder / "in")).code, 0);
  const auto with_input = [&](int rank) {
    return start({"--nnodes", "2", "--node-rank", std::to_string(rank), "--master-addr",
                  "127.0.0.1", "--master-port", job.port(), "--stdin", "1"},
                 {"cat"}, {.environment = {}, .input = folder / "in"});
  };
  const auto second = with_input(1);
  const Finished first = with_input(0)->finish();
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out, "");
  EXPECT_EQ(second->finish().out, "hello\n");
}

TEST(FixedFormingTest, ARankThatTheWorldDoesNotHaveIsRefusedEverywhere) {
  const FixedJob job(2, {"--stdin", "2"});
  const auto second = job.node(1, shell("echo never"));
  const auto first = job.node(0, shell("echo never"));
  for (const auto& node : {first.get(), second.get()}) {
    const Finished end = node->finish();
    EXPECT_EQ(end.code, 2) << end.err;
    EXPECT_EQ(end.out, "");
    EXPECT_THAT(end.err, HasSubstr("--stdin 2: there is no such rank, with 2 workers"));
  }
}

TEST(ArrivalFormingTest, TheFirstOnTheEndpointHostsAndAllMeet) {
  const ArrivalJob job("3");
  const auto a = job.node(shell(kMeet));
  const auto b = job.node(shell(kMeet));
  const auto c = job.node(shell(kMeet));
  std::string out;
  for (const auto& node : {a.get(), b.get(), c.get()}) {
    const Finished end = node->finish();
    EXPECT_EQ(end.code, 0) << end.err;
    out += end.out;
  }
  EXPECT_THAT(out, AllOf(HasSubstr("r=0 l=0 g=0 w=3"), HasSubstr("r=1 l=0 g=1 w=3"),
                         HasSubstr("r=2 l=0 g=2 w=3")));
}

TEST(ArrivalFormingTest, WhoIsEnoughStartsAfterTheLastCall) {
  const ArrivalJob job("2:4", {"--rdzv-conf", "last_call_timeout=1"});
  const auto a = job.node(shell(kMeet));
  const auto b = job.node(shell(kMeet));
  EXPECT_THAT(a->finish().out, HasSubstr("w=2"));
  EXPECT_EQ(b->finish().code, 0);
}

class WaitingSignalTest : public testing::TestWithParam<int> {};

TEST_P(WaitingSignalTest, EndsAWaitingNodeByThatSignal) {
  const FixedJob job(2);
  const auto host = job.node(0, shell("exit 0"));
  ASSERT_TRUE(host->wait_for_error("node rank 1 is missing"));
  ::kill(host->pid(), GetParam());
  const Finished end = host->finish();
  EXPECT_EQ(end.signal, GetParam()) << end.err;
  EXPECT_THAT(end.err, HasSubstr("before its workers were started"));
}

TEST_P(WaitingSignalTest, EndsANodeThatCannotReachTheOthers) {
  const FixedJob job(2);
  const auto node = job.node(1, shell("exit 0"));
  ASSERT_TRUE(node->wait_for_error("connection refused"));
  ::kill(node->pid(), GetParam());
  EXPECT_EQ(node->finish().signal, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Each, WaitingSignalTest, testing::Values(SIGINT, SIGTERM));

// Node 1 does not stop in time, and its limit passes meanwhile: no round follows for it.
TEST(TimeLimitTest, CountsWhileWorkersAreStopping) {
  const TemporaryFolder folder;
  const std::string deaf = folder / "deaf";
  const FixedJob job(2, {"--max-restarts", "1", "--restart-backoff", "0"});
  const Words command = shell("if [ $RANK = 0 ]; then while [ ! -e " + deaf +
                              " ]; do sleep 0.02; done; exit 3; fi; " +
                              "trap '' TERM; echo round $TORCHELASTIC_RESTART_COUNT; touch " +
                              deaf + "; while :; do sleep 0.1; done");
  const auto first = job.node(0, command);
  const Finished end =
      job.node(1, command, {"--timeout", "2", "--shutdown-timeout", "3"})->finish();
  EXPECT_EQ(end.code, 124) << end.err;
  EXPECT_EQ(end.out, "round 0\n");
  EXPECT_THAT(end.err, HasSubstr("--timeout"));
  ::kill(first->pid(), SIGTERM);
  first->finish();
}

TEST(WaitingTest, TheTimeLimitCountsWhileWaiting) {
  const FixedJob job(2);
  const Finished end = job.node(0, shell("exit 0"), {"--timeout", "1"})->finish();
  EXPECT_EQ(end.code, 124);
  EXPECT_THAT(end.err, HasSubstr("stopped after 1 s (--timeout)"));
}

}  // namespace
}  // namespace ddprun::test
