// rdzvctl stacks asks the nodes of a job where their workers are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "rendezvous/base/read_file.h"
#include "tests/integration/multi_node/nodes.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Each;
using testing::EndsWith;
using testing::HasSubstr;

Finished rdzvctl(const std::string& port, Words words) {
  words.insert(words.begin(), DDPRUN_RDZVCTL);
  words.insert(words.end(), {"--endpoint", "127.0.0.1:" + port});
  return run(words);
}

// The files in a line "NODE: FILES".
std::string files_of(const std::string& line) {
  return line.substr(line.find('/'));
}

TEST(StacksTest, AreWrittenWhereRdzvctlSaysAndTheWorkersGoOn) {
  const TemporaryFolder folder;
  const std::string go = folder / "go";
  const FixedJob job(2, {"--log-dir", folder / "logs"});
  const Words command = shell("echo up; while [ ! -e " + go + " ]; do sleep 0.02; done; echo done");
  const auto first = job.node(0, command, {"-n", "2"});
  const auto second = job.node(1, command);
  ASSERT_TRUE(first->wait_for_output("up") && second->wait_for_output("up"));
  const Finished asked = rdzvctl(job.port(), {"stacks", "none"});
  EXPECT_EQ(asked.code, 0) << asked.err;
  const Words nodes = lines(asked.out);
  ASSERT_EQ(nodes.size(), 2U) << asked.out;
  EXPECT_THAT(nodes, Each(AnyOf(EndsWith("/rank_{0,1}.txt"), EndsWith("/rank_{0..1}.txt"),
                                EndsWith("/rank_2.txt"))));
  for (const std::string& node : nodes) {
    const Finished shown = run_shell("cat " + files_of(node));
    EXPECT_EQ(shown.code, 0) << shown.err;
    for (const std::string rank : {"0", "1", "2"})
      EXPECT_EQ(count_of("rank " + rank + ", pid ", shown.out),
                node.ends_with("/rank_2.txt") == (rank == "2"));
  }
  ASSERT_EQ(run_shell("touch " + go).code, 0);
  const Finished end = first->finish();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("done"));
  EXPECT_EQ(second->finish().code, 0);
  EXPECT_EQ(run_shell("cat " + files_of(nodes.front())).code, 0) << "they do not stay";
}

TEST(StacksTest, ASpareHasNoneAndThatIsNoFailure) {
  const ArrivalJob job("2");
  const Words command = shell("echo up; exec sleep 60");
  const auto first = job.node(command), second = job.node(command);
  ASSERT_TRUE(first->wait_for_output("up") && second->wait_for_output("up"));
  const auto spare = job.node(command);
  ASSERT_TRUE(spare->wait_for_error("this node is a spare"));
  const Finished asked = rdzvctl(job.port(), {"stacks", "none"});
  EXPECT_EQ(asked.code, 0) << asked.err;
  EXPECT_THAT(asked.out, AllOf(HasSubstr("/rank_0.txt\n"), HasSubstr(": no worker runs there\n")));
}

// Its server has no store at the endpoint: each round's is elsewhere.
TEST(StoreTest, AQuestionForNoStoreIsOneLineOfTheJobs) {
  const ArrivalJob job("2");
  const Words command = shell("echo up; exec sleep 60");
  const auto node = job.node(command), other = job.node(command);
  ASSERT_TRUE(node->wait_for_output("up") && other->wait_for_output("up"));
  const Finished asked = rdzvctl(job.port(), {"store", "ls"});
  EXPECT_EQ(asked.code, 1);
  EXPECT_THAT(asked.err, HasSubstr("127.0.0.1:" + job.port() + " lets nobody into a store: "));
  EXPECT_LT(asked.took, std::chrono::seconds(5));
  ::kill(node->pid(), SIGTERM);
  EXPECT_LE(count_of("ddprun: rendezvous: ", node->finish().err), 1);
}

TEST(StacksTest, WhereThereAreNoneItIsSaidWhy) {
  const FixedJob job(2);
  const auto first = job.node(0, shell("exit 0"));
  ASSERT_TRUE(first->wait_for_error("node rank 1 is missing"));
  const Finished waiting = rdzvctl(job.port(), {"stacks", "none"});
  EXPECT_EQ(waiting.code, 1);
  EXPECT_THAT(waiting.out, HasSubstr(": no worker runs there\n"));
  EXPECT_EQ(waiting.err, "rdzvctl: run none has no workers now\n");

  const FixedJob other(2, {"--log-dir", "/dev/null"});
  const auto a = other.node(0, shell("echo up; exec sleep 60"));
  const auto b = other.node(1, shell("echo up; exec sleep 60"));
  ASSERT_TRUE(a->wait_for_output("up") && b->wait_for_output("up"));
  EXPECT_THAT(rdzvctl(other.port(), {"stacks", "none"}).err,
              HasSubstr("this node keeps no files (--log-dir /dev/null)"));
}

}  // namespace
}  // namespace ddprun::test
