// A daemon that was killed and started again: the nodes of its runs come back with what they have,
// and nodes that were started anew come in between.
#include "tests/unit/roster/resumed.h"

namespace ddprun::roster {
namespace {

class OneReplaced : public testing::TestWithParam<bool> {
 protected:
  // The new b comes before or after the old a.
  void meet(Resumed& job, const Join& fresh) {
    if (GetParam()) b_ = job.server.connect(fresh);
    a_ = job.server.connect(job.joins[0]);
    if (!GetParam()) b_ = job.server.connect(fresh);
  }
  MemberId a_ = 0, b_ = 0;
};

TEST_P(OneReplaced, AJobThatNeedsAllAndMayNotRestartEndsAndTheNewNodeBeginsAnother) {
  Resumed job(2, 0, /*given_ranks=*/true);
  meet(job, job.fresh(1));
  const auto abort = job.server.last<Abort>(a_);
  EXPECT_EQ(abort.exit_code, 125);
  EXPECT_EQ(abort.cause.text,
            "node b is lost: another ddprun came in its place after the server was lost");
  EXPECT_FALSE(job.server.got<Abort>(b_)) << "that was the job before";
  EXPECT_FALSE(job.server.closed.contains(b_));
  EXPECT_NE(job.server.former(b_).run_directory, "old-1");
  EXPECT_EQ(job.server.last<Waiting>(b_).missing_ranks, std::vector<int>{0});

  const MemberId late = job.server.connect(job.joins[1]);
  EXPECT_EQ(job.server.last<Abort>(late).why, abort.why) << "it was alive all the same";
  const MemberId a = job.server.connect(job.fresh(0));
  EXPECT_EQ(job.server.last<Assignment>(a).nodes.at(1).member, b_);
  EXPECT_EQ(job.server.last<Assignment>(b_).round, 0);
  EXPECT_EQ(job.server.former(a).run_directory, job.server.former(b_).run_directory);
}

TEST_P(OneReplaced, ByArrivalTheOldNodeIsAwaitedFirst) {
  Resumed job;
  meet(job, job.fresh(1));
  job.server.pass_alive(4900ms);
  EXPECT_FALSE(job.server.got<Abort>(a_)) << "the new one may be another node of that host";
  EXPECT_TRUE(job.server.got<Waiting>(b_)) << "and knows why it waits";
  job.server.pass_alive(100ms);
  EXPECT_EQ(job.server.last<Abort>(a_).exit_code, 125);
  EXPECT_FALSE(job.server.got<Abort>(b_));
  const MemberId a = job.server.connect(job.fresh(0));
  EXPECT_EQ(job.server.last<Assignment>(a).round, 0);
  EXPECT_EQ(job.server.last<Assignment>(b_).nodes.size(), 2u);
}

TEST_P(OneReplaced, ByArrivalItIsASpareWhenAllAreBack) {
  Resumed job;
  meet(job, job.fresh(1));
  const MemberId b = job.server.connect(job.joins[1]);
  EXPECT_TRUE(job.server.last<Waiting>(b_).spare);
  EXPECT_EQ(job.server.former(b_).run_directory, "old-1");
  job.server.reset(b);
  job.server.say(a_, Drained{0, 40000});
  EXPECT_EQ(job.server.last<Assignment>(b_).round, 1) << "and steps in as such";
}

TEST_P(OneReplaced, WithRestartsItIsTheReplacement) {
  Resumed job(2, 1, /*given_ranks=*/true);
  meet(job, job.fresh(1));
  EXPECT_EQ(job.server.last<Restart>(a_).cause.text,
            "node b is lost: another ddprun came in its place after the server was lost");
  EXPECT_EQ(job.server.last<Restart>(a_).restarts, 0);
  job.server.say(a_, Drained{0, 40000});
  EXPECT_EQ(job.server.last<Assignment>(b_).round, 1);
  EXPECT_EQ(job.server.place(b_).node_rank, 1);
  EXPECT_EQ(job.server.former(b_).run_directory, "old-1") << "one directory for all of them";
}

TEST_P(OneReplaced, WhatEndsTheOldJobMeanwhileIsNoneOfTheNewNodesBusiness) {
  Resumed job;
  meet(job, job.fresh(1));
  job.server.say(a_, Leave{"stopped by SIGTERM", 143});
  EXPECT_FALSE(job.server.got<Abort>(b_));
  EXPECT_FALSE(job.server.closed.contains(b_));
  const MemberId old = job.server.connect(job.joins[1]);
  EXPECT_EQ(job.server.last<Abort>(old).exit_code, 143);
  const MemberId a = job.server.connect(job.fresh(0));
  EXPECT_EQ(job.server.last<Assignment>(a).nodes.size(), 2u);
}

TEST_P(OneReplaced, NorIsItsFailure) {
  Resumed job;
  if (GetParam()) b_ = job.server.connect(job.fresh(0));
  const MemberId failed = job.failed_node();
  if (!GetParam()) b_ = job.server.connect(job.fresh(0));
  job.server.pass(5s);
  EXPECT_EQ(job.server.last<Abort>(failed).exit_code, 7);
  EXPECT_FALSE(job.server.got<Abort>(b_));
  EXPECT_FALSE(job.server.closed.contains(b_));
  EXPECT_EQ(job.server.runs->size(), 1u);
}

TEST_P(OneReplaced, NorIsTheLossOfTheOneThatWasBack) {
  Resumed job;
  meet(job, job.fresh(1));
  job.server.reset(a_);
  EXPECT_FALSE(job.server.got<Abort>(b_));
  const MemberId a = job.server.connect(job.joins[0]);
  EXPECT_EQ(job.server.last<Abort>(a).cause.node, "a");
  EXPECT_FALSE(job.server.got<Assignment>(b_));
}

TEST_P(OneReplaced, ACancellationIsForAllOfThem) {
  Resumed job;
  meet(job, job.fresh(1));
  job.server.connect(AskCancel{.run = "r", .by = "me"});
  EXPECT_EQ(job.server.last<Abort>(a_).exit_code, 143);
  EXPECT_EQ(job.server.last<Abort>(b_).exit_code, 143);
  EXPECT_EQ(job.server.runs->size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Each, OneReplaced, testing::Values(true, false),
                         [](const auto& each) { return each.param ? "first" : "later"; });

TEST(RestartedServer, AWholeNewJobIsNotKeptWaitingByTheOldOne) {
  Resumed job;
  const MemberId old = job.server.connect(job.joins[0]);
  const MemberId a = job.server.connect(job.fresh(0));
  EXPECT_FALSE(job.server.got<Abort>(old));
  const MemberId b = job.server.connect(job.fresh(1));
  EXPECT_EQ(job.server.last<Abort>(old).exit_code, 125);
  for (const MemberId id : {a, b}) {
    EXPECT_EQ(job.server.last<Assignment>(id).round, 0);
    EXPECT_EQ(job.server.last<Assignment>(id).nodes.size(), 2u);
    EXPECT_FALSE(job.server.got<Abort>(id));
  }
}

// Enough nodes are there, but they are not of one job.
TEST(RestartedServer, StrangersDoNotMakeUpForAnOldNodeThatIsLost) {
  ServerOfRuns old;
  std::vector<Join> joins;
  std::vector<MemberId> ids;
  for (const std::string name : {"a", "b", "c"}) {
    joins.push_back(node(name, 3, 3));
    ids.push_back(old.connect(joins.back()));
  }
  ServerOfRuns server;
  std::vector<MemberId> back;
  for (std::size_t i = 0; i < 2; ++i) {
    Join join = old.holding(joins[i], ids[i]);
    join.held->server = join.former->server = "old";
    back.push_back(server.connect(join));
  }
  const MemberId x = server.connect(node("x", 3, 3));
  const MemberId y = server.connect(node("y", 3, 3));
  server.reset(back[0]);
  EXPECT_EQ(server.last<Abort>(back[1]).cause.node, "a");
  EXPECT_FALSE(server.got<Abort>(x));
  server.connect(node("z", 3, 3));
  EXPECT_EQ(server.last<Assignment>(y).round, 0);
}

TEST(RestartedServer, WhoComesBackToARunThatOthersHaveBegunAnewIsRefused) {
  for (const int min : {1, 2}) {
    Resumed job(min);
    const MemberId a = job.server.connect(job.fresh(0));
    const MemberId b = job.server.connect(job.fresh(1));
    EXPECT_TRUE(job.server.got<Assignment>(a));
    const MemberId old = job.server.connect(job.joins[0]);
    EXPECT_EQ(job.server.last<Refused>(old).why,
              "node a was part of a run r that the server lost when it was restarted; nodes that "
              "were started anew have begun run r since");
    job.server.pass_alive(10s);
    EXPECT_FALSE(job.server.got<Restart>(a));
    EXPECT_FALSE(job.server.got<Restart>(b));
  }
}

TEST(RestartedServer, NodesThatWaitedForTheirFirstRoundMeetNewcomersAsBefore) {
  ServerOfRuns server;
  std::vector<MemberId> members;
  for (const std::string name : {"c", "a", "b"}) {
    Join join = node(name, 3, 3);
    if (name != "c") join.former = Former{.server = "old", .run_directory = "old-1"};
    members.push_back(server.connect(join));
  }
  for (const MemberId id : members) {
    EXPECT_EQ(server.last<Assignment>(id).nodes.size(), 3u);
    EXPECT_EQ(server.former(id).run_directory, "old-1") << "one directory for all of them";
  }
}

TEST(RestartedServer, OfTwoOldRunsTheSecondOneIsRefused) {
  ServerOfRuns server;
  Join join = node("a", 3, 3);
  join.former = Former{.server = "old", .run_directory = "old-1"};
  server.connect(join);
  join.former->run_directory = "old-2";
  EXPECT_TRUE(server.got<Refused>(server.connect(join)));
}

TEST(RestartedServer, ARoundOfThisServerIsNotTakenBackFromAnAgentsWord) {
  ServerOfRuns server;
  const Join join = node("a", 2, 2);
  const MemberId a = server.connect(join);
  server.connect(node("b", 2, 2));
  Join back = server.holding(join, a);
  server.reset(a);
  server.pass(60s);
  back.former = Former{.server = "old", .run_directory = "old-1"};
  const MemberId again = server.connect(back);
  EXPECT_TRUE(server.got<Restart>(again)) << "its workers are of no use";
  EXPECT_EQ(server.runs->snapshot(server.now, "r")->state, Snapshot::State::waiting);
}

// The node that has come first has the node rank, in the old job as in the new one.
TEST(RestartedServer, ANodeWhosePlaceIsTakenDoesNotBringItsRoundBack) {
  Resumed job(2, 0, /*given_ranks=*/true);
  const MemberId fresh = job.server.connect(job.fresh(0));
  const MemberId a = job.server.connect(job.joins[0]);
  job.server.answer_pings();
  EXPECT_NE(job.server.last<Refused>(a).why.find("node rank 0 of run r is taken"),
            std::string::npos);
  const MemberId b = job.server.connect(job.joins[1]);
  EXPECT_EQ(job.server.last<Abort>(b).cause.node, "a");
  EXPECT_FALSE(job.server.got<Abort>(fresh));
  job.server.connect(job.fresh(1));
  EXPECT_EQ(job.server.last<Assignment>(fresh).nodes.size(), 2u);
}

// Of three nodes a and b are away; c's place is the one that is taken.
TEST(RestartedServer, TheNodeThatIsReplacedIsTheOneThatIsNamed) {
  ServerOfRuns old;
  std::vector<Join> joins;
  std::vector<MemberId> ids;
  for (int rank = 0; rank < 3; ++rank) {
    Join join = node(std::string(1, static_cast<char>('a' + rank)), 3, 3);
    join.static_ranks = true;
    join.node_rank = rank;
    joins.push_back(join);
    ids.push_back(old.connect(join));
  }
  ServerOfRuns server;
  Join back = old.holding(joins[0], ids[0]);
  back.held->server = back.former->server = "old";
  const MemberId a = server.connect(back);
  const MemberId c = server.connect(joins[2]);
  EXPECT_EQ(server.last<Abort>(a).cause.node, "c");
  EXPECT_FALSE(server.got<Abort>(c));
}

// With the old node's loss the job has ended, and the new one is a node of the next by then.
TEST(RestartedServer, ANewNodeThatIsSilentWithAnOldOneIsNotClosedWithIt) {
  Resumed job;
  for (Join& join : job.joins) join.reconnect_timeout = 100s;
  const MemberId a = job.server.connect(job.joins[0]);
  Join other = job.fresh(1);
  other.node = "c";
  const MemberId c = job.server.connect(other);
  job.server.pass(20s);
  EXPECT_TRUE(job.server.closed.contains(a));
  EXPECT_FALSE(job.server.closed.contains(c));
  EXPECT_EQ(job.server.runs->size(), 1u);
}

// As agents of before say it: what they hold, and not which run they were part of.
TEST(RestartedServer, AnOlderAgentThatIsBackIsNoStranger) {
  Resumed job;
  for (Join& join : job.joins) join.former.reset();
  const MemberId a = job.server.connect(job.joins[0]);
  job.server.pass_alive(5s);
  EXPECT_EQ(job.server.last<Abort>(a).exit_code, 125);
  EXPECT_EQ(job.server.runs->size(), 0u);
}

TEST(RestartedServer, WhoWantsTheRankOfANodeThatIsBackIsDecidedOn) {
  Resumed job(2, 0, /*given_ranks=*/true);
  const MemberId a = job.server.connect(job.joins[0]);
  const MemberId rival = job.server.connect(job.fresh(0));
  const MemberId again = job.server.connect(job.joins[0]);
  EXPECT_TRUE(job.server.closed.contains(a));
  job.server.answer_pings(again);
  EXPECT_TRUE(job.server.got<Refused>(rival));
}

// The server was lost while they stopped their workers for restart 1 of 1.
TEST(RestartedServer, RestartsThatAreSpentAreSpent) {
  Resumed job(2, 1);
  for (Join& join : job.joins) {
    join.held.reset();
    join.former->round = 0;
    join.former->restarts = 1;
  }
  const MemberId a = job.server.connect(job.joins[0]);
  const MemberId b = job.server.connect(job.joins[1]);
  EXPECT_EQ(job.server.last<Assignment>(a).round, 1) << "its logs are not those of round 0";
  EXPECT_EQ(job.server.last<Assignment>(a).restarts, 1);
  job.server.say(b, Failed{.round = 1, .rank = 2, .local_rank = 0, .code = 6});
  job.server.say(a, Drained{1, 40000});
  job.server.pass_alive(3s);
  EXPECT_EQ(job.server.last<Abort>(a).exit_code, 6);
}

}  // namespace
}  // namespace ddprun::roster
