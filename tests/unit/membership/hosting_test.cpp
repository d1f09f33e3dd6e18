#include "launcher/membership/hosting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ddprun::membership {
namespace {

const std::vector<std::string> kHere{"127.0.0.1", "10.0.0.1"};

HostingQuestion fixed_question(int node_rank, const std::string& host,
                               std::vector<std::string> addresses) {
  return {.fixed = true,
          .node_rank = node_rank,
          .is_host = {},
          .host = host,
          .addresses = std::move(addresses),
          .local_addresses = kHere};
}

HostingQuestion arrival_question(const std::string& host, std::vector<std::string> addresses) {
  HostingQuestion question = fixed_question(0, host, std::move(addresses));
  question.fixed = false;
  return question;
}

TEST(HostingTest, OfFixedNodesTheFirstHosts) {
  const Hosting first = decide_hosting(fixed_question(0, "10.0.0.1", {"10.0.0.1"}));
  EXPECT_TRUE(first.listen);
  EXPECT_EQ(first.address, "10.0.0.1");
  EXPECT_EQ(first.connect_to, "10.0.0.1");
  EXPECT_FALSE(decide_hosting(fixed_question(1, "10.0.0.1", {"10.0.0.1"})).listen);
}

TEST(HostingTest, ByArrivalTheNodeThatTheEndpointNamesHosts) {
  EXPECT_TRUE(decide_hosting(arrival_question("node0", {"10.0.0.1"})).listen);
  EXPECT_FALSE(decide_hosting(arrival_question("node0", {"10.0.0.2"})).listen);
}

TEST(HostingTest, TheUserKnowsBetter) {
  HostingQuestion question = arrival_question("node0", {"10.0.0.2"});
  question.is_host = true;
  const Hosting hosting = decide_hosting(question);
  EXPECT_TRUE(hosting.listen);
  EXPECT_FALSE(hosting.may_be_taken);
  EXPECT_EQ(hosting.address, "");
  EXPECT_FALSE(hosting.undecided);
  EXPECT_EQ(hosting.notice,
            "'node0' is no address of this host, so the rendezvous listens on all addresses");
  question = fixed_question(0, "10.0.0.1", {"10.0.0.1"});
  question.is_host = false;
  EXPECT_FALSE(decide_hosting(question).listen);
}

TEST(HostingTest, NodeRankZeroAtAForeignAddressWaitsForWhoAnswersThere) {
  const Hosting hosting = decide_hosting(fixed_question(0, "10.9.9.9", {"10.9.9.9"}));
  EXPECT_TRUE(hosting.listen);
  EXPECT_TRUE(hosting.undecided);
  EXPECT_EQ(hosting.address, "");
  EXPECT_THAT(hosting.notice, testing::HasSubstr("an rdzvd there is joined"));
  EXPECT_FALSE(decide_hosting(fixed_question(1, "10.9.9.9", {"10.9.9.9"})).listen);
  EXPECT_FALSE(decide_hosting(fixed_question(0, "10.0.0.1", {"10.0.0.1"})).undecided);
}

TEST(HostingTest, ANameThatIsLoopbackHereIsNoWishForIt) {
  const Hosting hosting = decide_hosting(fixed_question(0, "node0", {"127.0.1.1"}));
  EXPECT_EQ(hosting.address, "");
  EXPECT_THAT(hosting.notice, testing::HasSubstr("listens on all addresses"));
  EXPECT_EQ(decide_hosting(fixed_question(0, "localhost", {"127.0.0.1"})).address, "127.0.0.1");
  EXPECT_EQ(decide_hosting(fixed_question(0, "127.0.0.2", {"127.0.0.2"})).address, "127.0.0.2");
}

TEST(HostingTest, ANameWithSeveralAddressesOfThisHostMeansAll) {
  HostingQuestion question = fixed_question(0, "node0", {"10.0.0.1", "fd00::1"});
  question.local_addresses.push_back("fd00::1");
  const Hosting hosting = decide_hosting(question);
  EXPECT_EQ(hosting.address, "");
  EXPECT_EQ(hosting.connect_to, "10.0.0.1");
  EXPECT_EQ(hosting.notice, "");
}

}  // namespace
}  // namespace ddprun::membership
