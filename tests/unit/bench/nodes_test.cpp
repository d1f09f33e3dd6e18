#include "tests/bench/nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace ddprun::bench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

std::string value_of(const Words& words, const std::string& option) {
  const auto found = std::find(words.begin(), words.end(), option);
  return words.end() - found < 2 ? "" : *(found + 1);
}

std::vector<std::string> values_of(const std::vector<Words>& commands, const std::string& option) {
  std::vector<std::string> values;
  for (const Words& words : commands) values.push_back(value_of(words, option));
  return values;
}

const Setup kSetup{.ddprun = "/bin/ddprun", .ddprun_options = {"--device", "cpu"}};

TEST(NodeWordsTest, GivenRanksMeetAtOnePort) {
  const auto commands = node_words(kSetup, Meeting::fixed, "3", 3);
  EXPECT_THAT(values_of(commands, "--node-rank"), ElementsAre("0", "1", "2"));
  EXPECT_THAT(values_of(commands, "--device"), ElementsAre("cpu", "cpu", "cpu"));
  const std::string port = value_of(commands[0], "--master-port");
  EXPECT_NE(port, "");
  EXPECT_THAT(values_of(commands, "--master-port"), ElementsAre(port, port, port));
}

TEST(NodeWordsTest, OneOfThoseThatArriveHostsTheServer) {
  const auto commands = node_words(kSetup, Meeting::arrival, "2:3", 3);
  EXPECT_THAT(values_of(commands, "--rdzv-conf"),
              ElementsAre("is_host=true", "is_host=false", "is_host=false"));
  EXPECT_THAT(values_of(commands, "--nnodes"), ElementsAre("2:3", "2:3", "2:3"));
  EXPECT_THAT(commands[0], Not(Contains("--node-rank")));
}

TEST(NodeWordsTest, EachJobHasAPortOfItsOwn) {
  EXPECT_NE(value_of(node_words(kSetup, Meeting::fixed, "1", 1)[0], "--master-port"),
            value_of(node_words(kSetup, Meeting::fixed, "1", 1)[0], "--master-port"));
}

}  // namespace
}  // namespace ddprun::bench
