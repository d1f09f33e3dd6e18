// A host goes silent: no packet leaves or reaches it, and nothing is closed or reset.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/integration/netns/job.h"

namespace ddprun::test {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A node is lost after 0.9 s without a word.
const Words kShort{"--rdzv-conf",
                   "keep_alive_interval=0.3,keep_alive_max_attempt=3,last_call_timeout=1"};
// After 6 s.
const Words kLong{"--rdzv-conf", "keep_alive_interval=0.5,keep_alive_max_attempt=12"};

// The test's worker under a path of its own, by which its processes are found.
class MarkedWorker {
 public:
  MarkedWorker() { std::filesystem::create_symlink(DDPRUN_TEST_WORKER, path_); }
  // Connects to the store, says "ready" and stays until it is told to stop.
  Words connected() const { return {path_, "last_words", "0"}; }
  const std::string& path() const { return path_; }
  bool is_gone() const { return nobody_has(path_, seconds(5)); }

 private:
  TemporaryFolder folder_;
  std::string path_ = folder_ / "worker";
};

void expect_all_ready(const std::vector<std::unique_ptr<Program>>& nodes) {
  for (const auto& node : nodes) ASSERT_TRUE(node->wait_for_output("ready"));
}

using Ends = std::vector<Finished>;

class SilenceTest : public HostsTest<3>, public testing::WithParamInterface<Meeting> {
 protected:
  // Three hosts at work; `silent` falls silent, and all come to their ends.
  Ends ends_without(int silent) {
    const NetworkJob job{&network(), GetParam(), "3", kShort};
    const auto nodes = job.all_nodes(worker_.connected());
    expect_all_ready(nodes);
    network().host(silent).silence();
    const auto since = std::chrono::steady_clock::now();
    for (const auto& node : nodes) EXPECT_TRUE(node->wait_for_error(" is lost: it "));
    EXPECT_LT(std::chrono::steady_clock::now() - since, seconds(5));
    Ends ends = finish(nodes);
    EXPECT_TRUE(worker_.is_gone()) << "workers are left";
    return ends;
  }

  MarkedWorker worker_;
};

INSTANTIATE_TEST_SUITE_P(, SilenceTest, testing::Values(Meeting::fixed, Meeting::arrival),
                         [](const auto& each) {
                           return each.param == Meeting::fixed ? "Fixed" : "ByArrival";
                         });

TEST_P(SilenceTest, AMemberIsNamedByTheOthersAndEndsItself) {
  const Ends ends = ends_without(2);
  for (const int other : {0, 1}) {
    EXPECT_EQ(ends[other].code, 125) << ends[other].err;
    EXPECT_THAT(ends[other].err, HasSubstr("node netns3 is lost: it did not answer 3 pings"));
  }
  EXPECT_EQ(ends[2].code, 125) << ends[2].err;
  EXPECT_THAT(ends[2].err, HasSubstr("node netns1, which hosts the rendezvous, is lost: it was "
                                     "silent for 0.9 s"));
}

TEST_P(SilenceTest, TheHostOfTheServerIsNamedByAllOthersAndEndsItself) {
  const Ends ends = ends_without(0);
  for (const int other : {1, 2}) {
    EXPECT_EQ(ends[other].code, 125) << ends[other].err;
    EXPECT_THAT(ends[other].err, HasSubstr("node netns1, which hosts the rendezvous, is lost: it "
                                           "was silent for 0.9 s"));
  }
  EXPECT_EQ(ends[0].code, 125) << ends[0].err;
  EXPECT_THAT(ends[0].err, AllOf(HasSubstr("is lost"), HasSubstr("pings")));
}

// What it sends vanishes in its own routing table, while it hears the others.
TEST_P(SilenceTest, AHostThatHearsAndCannotAnswerIsLostToo) {
  const NetworkJob job{&network(), GetParam(), "3", kShort};
  const auto nodes = job.all_nodes(worker_.connected());
  expect_all_ready(nodes);
  network().host(2).blackhole(network().host(0));
  const Ends ends = finish(nodes);
  for (const Finished& end : ends) EXPECT_EQ(end.code, 125) << end.err;
  EXPECT_THAT(ends[0].err, HasSubstr("node netns3 is lost"));
  EXPECT_THAT(ends[1].err, HasSubstr("node netns3 is lost"));
  EXPECT_TRUE(worker_.is_gone()) << "workers are left";
}

TEST_P(SilenceTest, APartitionThatHealsBeforeTheLimitCostsNothing) {
  const NetworkJob job{&network(), GetParam(), "3", kLong};
  const TemporaryFolder folder;
  const std::string done = folder / "done";
  const auto nodes =
      job.all_nodes(shell("echo ready; i=0; while [ ! -e " + done +
                          " ]; do i=$((i+1)); echo tick $i; sleep 0.1; done; echo restarts "
                          "$TORCHELASTIC_RESTART_COUNT"));
  expect_all_ready(nodes);
  network().host(2).silence();
  const auto ticks = [&](const char* last) { return nodes[2]->wait_for_output(last); };
  ASSERT_TRUE(ticks("tick 20\n"));  // two seconds: some pings are lost
  network().host(2).heal();
  ASSERT_TRUE(ticks("tick 90\n"));  // beyond the limit of the silence
  run_shell("touch " + done);
  for (const Finished& end : finish(nodes)) {
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_THAT(end.out, HasSubstr("restarts 0\n"));
    EXPECT_THAT(end.err, Not(HasSubstr("lost")));
  }
}

TEST_F(NetworkTest, TheOthersGoOnWithFewerWhereMinIsLeft) {
  Network network(3);
  const MarkedWorker worker;
  const NetworkJob job{&network, Meeting::arrival, "2:3", kShort};
  // In the world of three they stay, in that of two they meet and end.
  const auto nodes = job.all_nodes(shell("echo world $WORLD_SIZE; " + worker.path() +
                                         " store 1 key; [ $WORLD_SIZE = 2 ] || exec " +
                                         worker.path() + " last_words 0"));
  expect_all_ready(nodes);
  network.host(2).silence();
  const Ends ends = finish(nodes);
  for (const int other : {0, 1}) {
    EXPECT_EQ(ends[other].code, 0) << ends[other].err;
    EXPECT_THAT(ends[other].out, AllOf(HasSubstr("world 3\n"), HasSubstr("world 2\n")));
    EXPECT_THAT(ends[other].err, HasSubstr("netns3"));
  }
  EXPECT_EQ(ends[2].code, 125) << ends[2].err;
  EXPECT_THAT(ends[2].err, HasSubstr("node netns1, which hosts the rendezvous, is lost"));
  EXPECT_TRUE(worker.is_gone()) << "workers are left";
}

// Hosts 0 and 1 are nodes, and meet at an rdzvd on host 2.
class DaemonElsewhereTest : public HostsTest<3> {
 protected:
  void SetUp() override {
    HostsTest::SetUp();
    if (IsSkipped()) return;
    const Host& server = network().host(2);
    rdzvd_ = server.start({DDPRUN_RDZVD, "--listen", server.address() + ":" + kPort});
    ASSERT_TRUE(rdzvd_->wait_for_output(kPort)) << rdzvd_->out();
  }
  NetworkJob job_of(const std::string& nodes, const std::string& conf) {
    return {.network = &network(),
            .meeting = Meeting::arrival,
            .nodes = nodes,
            .options = {"--rdzv-conf", "keep_alive_interval=0.3,keep_alive_max_attempt=3," + conf},
            .endpoint_at = 2,
            .run = "job"};
  }

 private:
  std::unique_ptr<Program> rdzvd_;
};

// The daemon may come back, so the workers go on for a while.
TEST_F(DaemonElsewhereTest, ADaemonThatFallsSilentIsLookedForAndGivenUp) {
  const MarkedWorker worker;
  const NetworkJob job = job_of("2", "reconnect_timeout=1.5");
  std::vector<std::unique_ptr<Program>> nodes;
  for (const int index : {0, 1}) nodes.push_back(job.node(index, worker.connected()));
  expect_all_ready(nodes);
  network().host(2).silence();
  for (const Finished& end : finish(nodes)) {
    EXPECT_EQ(end.code, 125) << end.err;
    EXPECT_THAT(end.err,
                AllOf(HasSubstr("lost the rendezvous at 10.77.0.3:29400: it was silent for 0.9 s; "
                                "the workers go on"),
                      HasSubstr("the rendezvous is lost: 10.77.0.3:29400 could not be reached "
                                "within 1.5 s: no answer in time")));
  }
  EXPECT_TRUE(worker.is_gone()) << "workers are left";
}

// The daemon has forgotten it by then, and so it comes as a newcomer, into a larger world.
TEST_F(DaemonElsewhereTest, AHostThatComesBackJoinsTheOthersAgain) {
  const NetworkJob job = job_of("1:2", "last_call_timeout=20,reconnect_timeout=15");
  const TemporaryFolder folder;
  const std::string done = folder / "done";
  const Words command =
      shell("echo world $WORLD_SIZE restarts $TORCHELASTIC_RESTART_COUNT; while [ ! -e " + done +
            " ]; do sleep 0.1; done");
  std::vector<std::unique_ptr<Program>> nodes;
  for (const int index : {0, 1}) nodes.push_back(job.node(index, command));
  for (const auto& node : nodes) ASSERT_TRUE(node->wait_for_output("world 2 restarts 0\n"));
  network().host(1).silence();
  ASSERT_TRUE(nodes[0]->wait_for_output("world 1 restarts 0\n"));
  ASSERT_TRUE(nodes[1]->wait_for_error("the workers go on"));
  network().host(1).heal();
  ASSERT_TRUE(nodes[1]->wait_for_error("found the rendezvous"));
  ASSERT_TRUE(nodes[0]->wait_for_output("world 1 restarts 0\nworld 2 restarts 0\n"));
  ASSERT_TRUE(nodes[1]->wait_for_output("world 2 restarts 0\nworld 2 restarts 0\n"));
  run_shell("touch " + done);
  for (const Finished& end : finish(nodes)) EXPECT_EQ(end.code, 0) << end.err;
}

}  // namespace
}  // namespace ddprun::test
