#include "launcher/hosts/nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace ddprun::hosts {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = Action::Kind;

std::vector<Host> named(int count) {
  std::vector<Host> hosts;
  for (int i = 0; i < count; ++i)
    hosts.push_back({.name = std::string(1, static_cast<char>('a' + i)), .port = {}});
  return hosts;
}

// Three hosts that all have begun.
Nodes running() {
  Nodes nodes(named(3), false);
  for (const int index : {0, 1, 2}) nodes.on(Hello{index});
  nodes.on(Listening{0, "10.0.0.1", 4711});
  return nodes;
}

TEST(Nodes, BeginWithTheFirstWhenAllHaveAnswered) {
  Nodes nodes(named(3), false);
  EXPECT_EQ(nodes.on(Hello{1}).kind, Kind::none);
  EXPECT_EQ(nodes.on(Hello{0}).kind, Kind::none);
  EXPECT_EQ(nodes.silent(), "c");
  const Action begin = nodes.on(Hello{2});
  EXPECT_EQ(begin.kind, Kind::begin);
  EXPECT_EQ(begin.begin, (Begin{.for_first = true}));
  const Action others = nodes.on(Listening{0, "10.0.0.1", 4711});
  EXPECT_EQ(others.kind, Kind::begin);
  EXPECT_EQ(others.begin, (Begin{.for_others = true, .host = "10.0.0.1", .port = 4711}));
  EXPECT_EQ(nodes.on(Listening{0, "10.0.0.1", 4711}).kind, Kind::none);
}

TEST(Nodes, BeginTogetherWhereTheUserSaysWhereTheyMeet) {
  Nodes nodes(named(2), true);
  nodes.on(Hello{0});
  EXPECT_EQ(nodes.on(Hello{1}).begin, (Begin{.for_first = true, .for_others = true}));
  EXPECT_EQ(nodes.on(Listening{0, "x", 1}).kind, Kind::none);
}

TEST(Nodes, NameAllThatCannotTakePartAndStartNothing) {
  Nodes nodes(named(3), false);
  EXPECT_EQ(nodes.on(Out{0, true, "no key"}).kind, Kind::none);
  EXPECT_EQ(nodes.on(Hello{1}).kind, Kind::none);
  EXPECT_EQ(nodes.on(Out{2, true, "no route"}).kind, Kind::stop);
  EXPECT_FALSE(nodes.over());
  nodes.on(Ended{1, 143, 15});
  ASSERT_TRUE(nodes.over());
  const Ending ending = nodes.ending();
  EXPECT_EQ(ending.code, 125);
  EXPECT_EQ(ending.by_signal, 0);
  EXPECT_THAT(ending.lines,
              ElementsAre("ddprun: host a: no key\n", "ddprun: host c: no route\n",
                          "ddprun: 2 of 3 hosts cannot take part, so nothing was started\n"));
}

TEST(Nodes, ShowNoEndlessListOfThem) {
  Nodes nodes(named(26), false);
  for (int index = 0; index < 26; ++index) nodes.on(Out{index, true, "down"});
  EXPECT_EQ(nodes.ending().lines.size(), 22u);
  EXPECT_EQ(Nodes(named(9), false).silent(2), "a, b and 7 more");
}

TEST(Nodes, StopWhenAConnectionIsLost) {
  Nodes nodes = running();
  EXPECT_EQ(nodes.on(Out{1, false, "the connection was lost"}).kind, Kind::stop);
  nodes.on(Ended{0, 143, 15});
  nodes.on(Report{2, false, "ddprun: stopped by SIGTERM\n"});
  nodes.on(Ended{2, 143, 15});
  const Ending ending = nodes.ending();
  EXPECT_EQ(ending.code, 125);
  EXPECT_THAT(ending.lines, ElementsAre("ddprun: host b: the connection was lost\n"));
}

// No ddprun ends by SIGKILL by itself, and the one here was not killed.
TEST(Nodes, NameTheHostWhoseDdprunWasKilled) {
  Nodes nodes = running();
  EXPECT_EQ(nodes.on(Ended{0, 137, SIGKILL}).kind, Kind::stop);
  nodes.on(Report{1, true, "ddprun: node a was lost\n"});
  for (const int index : {1, 2}) nodes.on(Ended{index, 143, 15});
  const Ending ending = nodes.ending();
  EXPECT_EQ(ending.code, 125);
  EXPECT_EQ(ending.by_signal, 0);
  EXPECT_EQ(ending.lines.front(), "ddprun: host a: " + std::string(kKilledThere) + "\n");
}

TEST(Nodes, DoNotTellHowAHostEndedThatIsOut) {
  Nodes nodes = running();
  nodes.on(Out{1, false, std::string(kKilledThere)});
  nodes.on(Report{1, true, "ddprun: stopped by SIGTERM\n"});
  for (const int index : {0, 1, 2}) nodes.on(Ended{index, 143, 15});
  EXPECT_EQ(nodes.ending().code, 125);
  EXPECT_THAT(nodes.ending().lines, ElementsAre(HasSubstr("host b: its ddprun was killed there")));
}

TEST(Nodes, EndLikeTheOneThatFailedAndSayItOnce) {
  Nodes nodes = running();
  nodes.on(Report{0, false, "ddprun: rank 1 failed, says a\n"});
  nodes.on(Report{1, true, "ddprun: rank 1 failed first\n  host b\n"});
  nodes.on(Report{2, false, "ddprun: rank 1 failed, says c\n"});
  for (const int index : {0, 2}) nodes.on(Ended{index, 9, 0});
  EXPECT_FALSE(nodes.over());
  nodes.on(Ended{1, 7, 0});
  EXPECT_EQ(nodes.ending().code, 7);
  EXPECT_THAT(nodes.ending().lines, ElementsAre("ddprun: rank 1 failed first\n  host b\n"));
}

TEST(Nodes, SayWhereWhatIsNotTheSameEverywhere) {
  const std::string missing = "ddprun: cannot start './train': no such file or directory\n";
  const auto lines_where_missing = [&](const std::vector<int>& where) {
    Nodes nodes = running();
    for (const int index : where) nodes.on(Report{index, true, missing});
    for (const int index : {0, 1, 2}) nodes.on(Ended{index, 127, 0});
    return nodes.ending().lines;
  };
  EXPECT_THAT(lines_where_missing({1}),
              ElementsAre("ddprun: host b: cannot start './train': no such file or directory\n"));
  EXPECT_THAT(lines_where_missing({0, 2}), ElementsAre(HasSubstr("ddprun: hosts a, c: cannot")));
  EXPECT_THAT(lines_where_missing({0, 1, 2}), ElementsAre(missing));
}

TEST(Nodes, LetWhoHasHeardOfItSpeakWhereTheOtherCannot) {
  Nodes nodes = running();
  nodes.on(Report{0, false, "ddprun: node b was lost\n"});
  nodes.on(Report{2, false, "ddprun: node b was lost, says c\n"});
  nodes.on(Ended{0, 125, 0});
  nodes.on(Ended{1, 139, SIGSEGV});
  nodes.on(Ended{2, 125, 0});
  EXPECT_EQ(nodes.ending().code, 125);
  EXPECT_THAT(nodes.ending().lines, ElementsAre("ddprun: node b was lost\n"));
}

TEST(Nodes, NeverEndBadlyWithoutAWord) {
  Nodes nodes = running();
  for (const int index : {0, 2}) nodes.on(Ended{index, 0, 0});
  nodes.on(Ended{1, 2, 0});
  EXPECT_EQ(nodes.ending().code, 2);
  EXPECT_THAT(nodes.ending().lines,
              ElementsAre("ddprun: host b: its ddprun ended with 2 without a word\n"));
}

// Hosts whose lines nobody reads do not end.
TEST(Nodes, TellWhatFailedWhenAllHaveSaidTheirLastWords) {
  Nodes nodes = running();
  nodes.on(Report{1, true, "ddprun: rank 1 failed first\n  host b\n"});
  nodes.on(Report{0, false, "ddprun: rank 1 failed, says a\n"});
  EXPECT_THAT(nodes.failure(), IsEmpty());
  nodes.on(Out{2, false, "the connection was lost"});
  EXPECT_FALSE(nodes.over());
  EXPECT_THAT(nodes.failure(), ElementsAre("ddprun: host c: the connection was lost\n",
                                           "ddprun: rank 1 failed first\n  host b\n"));
}

TEST(Nodes, HaveNoFailureWhereTheUserWantsAnEndOrAllIsWell) {
  Nodes stopped = running();
  stopped.on_stop_signal(2);
  for (const int index : {0, 1, 2}) stopped.on(Out{index, false, "the connection was lost"});
  EXPECT_THAT(stopped.failure(), IsEmpty());
  Nodes well = running();
  for (const int index : {0, 1, 2}) well.on(Report{index, false, "ddprun: done\n"});
  EXPECT_THAT(well.failure(), IsEmpty());
}

TEST(Nodes, EndByTheUsersSignalAndSayItOnce) {
  Nodes nodes = running();
  nodes.on_stop_signal(2);
  nodes.on_stop_signal(15);
  for (const int index : {0, 1, 2}) {
    nodes.on(Report{index, false, "ddprun: stopped by SIGINT on host x\n"});
    nodes.on(Ended{index, 130, 2});
  }
  const Ending ending = nodes.ending();
  EXPECT_EQ(ending.by_signal, 2);
  EXPECT_EQ(ending.code, 130);
  EXPECT_THAT(ending.lines, ElementsAre("ddprun: stopped by SIGINT\n"));
}

TEST(Nodes, SucceedInSilence) {
  Nodes nodes = running();
  for (const int index : {0, 1, 2}) nodes.on(Ended{index, 0, 0});
  // Hanging up is no loss.
  EXPECT_EQ(nodes.on(Out{1, false, "the connection was lost"}).kind, Kind::none);
  EXPECT_TRUE(nodes.over());
  EXPECT_EQ(nodes.ending().code, 0);
  EXPECT_THAT(nodes.ending().lines, IsEmpty());
}

// It was refused before it could tell where to meet.
TEST(Nodes, DoNotWaitForAFirstNodeThatIsGone) {
  Nodes nodes(named(2), false);
  nodes.on(Hello{0});
  nodes.on(Hello{1});
  EXPECT_EQ(nodes.on(Ended{0, 2, 0}).kind, Kind::stop);
}

}  // namespace
}  // namespace ddprun::hosts
