// The store of a round lives as long as its workers, on whatever node they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/integration/multi_node/nodes.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;

const std::string kWorker = DDPRUN_TEST_WORKER;

Words last_words(int milliseconds) {
  return {kWorker, "last_words", std::to_string(milliseconds)};
}

struct Pair {
  std::unique_ptr<Program> host, other;
};

// The store is with `host`, whose workers end at once when they are told to.
Pair start_two(bool fixed) {
  Pair nodes;
  if (fixed) {
    const FixedJob job(2);
    nodes = {job.node(0, last_words(0)), job.node(1, last_words(1500))};
  } else {
    const ArrivalJob job("2");
    nodes.host = job.node(last_words(0));
    // It hosts the server, and so the store.
    EXPECT_TRUE(nodes.host->wait_for_error("1 of 2 nodes"));
    nodes.other = job.node(last_words(1500));
  }
  EXPECT_TRUE(nodes.host->wait_for_output("ready"));
  EXPECT_TRUE(nodes.other->wait_for_output("ready"));
  return nodes;
}

class StoreLifeTest : public testing::TestWithParam<bool> {};

TEST_P(StoreLifeTest, AStopSignalToItsHostLeavesItToTheWorkersOfOtherNodes) {
  const Pair nodes = start_two(GetParam());
  ::kill(nodes.host->pid(), SIGTERM);
  const Finished other = nodes.other->finish();
  EXPECT_THAT(other.out, HasSubstr("saved")) << other.out << other.err;
  EXPECT_THAT(other.err, HasSubstr("stopped by SIGTERM"));
  EXPECT_EQ(other.code, 128 + SIGTERM);
  const Finished host = nodes.host->finish();
  EXPECT_EQ(host.signal, SIGTERM) << host.err;
  EXPECT_THAT(host.out, HasSubstr("saved"));
}

TEST_P(StoreLifeTest, AStopSignalToAnotherNodeLeavesItToItsWorkers) {
  const Pair nodes = start_two(GetParam());
  ::kill(nodes.other->pid(), SIGTERM);
  const Finished other = nodes.other->finish();
  EXPECT_EQ(other.signal, SIGTERM) << other.err;
  EXPECT_THAT(other.out, HasSubstr("saved"));
  EXPECT_EQ(nodes.host->finish().code, 128 + SIGTERM);
}

TEST_P(StoreLifeTest, ASecondSignalEndsTheHostWithoutWaiting) {
  const Pair nodes = start_two(GetParam());
  ::kill(nodes.host->pid(), SIGTERM);
  ASSERT_TRUE(nodes.host->wait_for_error("the store is kept for the workers of other nodes"));
  ::kill(nodes.other->pid(), SIGSTOP);
  ::kill(nodes.host->pid(), SIGTERM);
  EXPECT_EQ(nodes.host->finish().signal, SIGTERM);
  ::kill(nodes.other->pid(), SIGCONT);
}

INSTANTIATE_TEST_SUITE_P(Each, StoreLifeTest, testing::Values(true, false),
                         [](const auto& each) { return each.param ? "fixed" : "by_arrival"; });

// Rank 0 fails; rank 1, on the other node, still needs the store of that round.
TEST(StoreOfARoundTest, OutlivesItsHostsOwnWorkers) {
  for (const bool fixed : {true, false}) {
    const TemporaryFolder folder;
    const std::string pipe = folder.make_fifo("fail");
    const Words options{"--max-restarts", "1", "--restart-backoff", "0"};
    const Words command = shell("[ $TORCHELASTIC_RESTART_COUNT = 1 ] && exec " + kWorker +
                                " store 1 key; [ $RANK = 1 ] && exec " + kWorker +
                                " last_words 500; read x < " + pipe + "; exit 3");
    std::unique_ptr<Program> first, second;
    if (fixed) {
      const FixedJob job(2, options);
      first = job.node(0, command);
      second = job.node(1, command);
    } else {
      const ArrivalJob job("2", options);
      first = job.node(command);
      ASSERT_TRUE(first->wait_for_error("1 of 2 nodes"));
      second = job.node(command);
    }
    ASSERT_TRUE(second->wait_for_output("ready"));
    ASSERT_EQ(run_shell("echo > " + pipe).code, 0);
    const Finished two = second->finish();
    EXPECT_EQ(two.out, "ready\nsaved\nmet\n") << two.err;
    EXPECT_EQ(two.code, 0) << two.err;
    EXPECT_EQ(first->finish().code, 0);
  }
}

}  // namespace
}  // namespace ddprun::test
