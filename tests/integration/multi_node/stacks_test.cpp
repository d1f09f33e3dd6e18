// rdzvctl stacks asks the nodes of a job where their workers are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/base/read_file.h"
#include "tests/integration/multi_node/nodes.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;

Finished rdzvctl(const std::string& port, Words words) {
  words.insert(words.begin(), DDPRUN_RDZVCTL);
  words.insert(words.end(), {"--endpoint", "127.0.0.1:" + port});
  return run(words);
}

// The folder in a line "NODE: FOLDER".
std::string folder_of(const std::string& line) {
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
  // Both nodes are on this host and have one directory.
  for (const std::string rank : {"0", "1", "2"}) {
    const std::string text =
        read_file(folder_of(nodes.front()) + "/rank_" + rank + ".txt").value_or("");
    EXPECT_THAT(text, HasSubstr("rank " + rank + ", pid "));
    EXPECT_GT(lines(text).size(), 1U);
  }
  ASSERT_EQ(run_shell("touch " + go).code, 0);
  const Finished end = first->finish();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("done"));
  EXPECT_EQ(second->finish().code, 0);
  EXPECT_TRUE(read_file(folder_of(nodes.front()) + "/rank_0.txt")) << "they do not stay";
}

TEST(StacksTest, WhereThereAreNoneItIsSaidWhy) {
  const FixedJob job(2);
  const auto first = job.node(0, shell("exit 0"));
  ASSERT_TRUE(first->wait_for_error("node rank 1 is missing"));
  const Finished waiting = rdzvctl(job.port(), {"stacks", "none"});
  EXPECT_NE(waiting.code, 0);
  EXPECT_THAT(waiting.err, HasSubstr("no worker runs here"));

  const FixedJob other(2, {"--log-dir", "/dev/null"});
  const auto a = other.node(0, shell("echo up; exec sleep 60"));
  const auto b = other.node(1, shell("echo up; exec sleep 60"));
  ASSERT_TRUE(a->wait_for_output("up") && b->wait_for_output("up"));
  EXPECT_THAT(rdzvctl(other.port(), {"stacks", "none"}).err,
              HasSubstr("this node keeps no files (--log-dir /dev/null)"));
}

}  // namespace
}  // namespace ddprun::test
