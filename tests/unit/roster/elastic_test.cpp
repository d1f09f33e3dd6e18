// Spares, growth, and nodes that return.
#include "tests/unit/roster/resumed.h"

namespace ddprun::roster {
namespace {

TEST(Elastic, SparesWaitStepInAndEndWell) {
  ServerOfRuns server;
  const MemberId a = server.connect(node("a", 2, 2));
  const MemberId b = server.connect(node("b", 2, 2));
  const MemberId c = server.connect(node("c", 2, 2));
  const MemberId d = server.connect(node("d", 2, 2));
  EXPECT_TRUE(server.last<Waiting>(c).spare);
  EXPECT_FALSE(server.got<Restart>(a)) << "there is no room for another node";
  server.reset(b);
  server.say(a, Drained{0, 40000});
  EXPECT_EQ(server.place(a).node_rank, 0);
  EXPECT_EQ(server.place(c).node_rank, 1) << "the first spare steps in";
  EXPECT_EQ(server.last<Assignment>(c).restarts, 0);
  EXPECT_FALSE(server.got<Assignment>(d));
  server.say(a, Finished{1});
  server.say(c, Finished{1});
  EXPECT_TRUE(server.got<Closed>(d));
}

TEST(Elastic, ANewcomerStartsALargerRound) {
  ServerOfRuns server;
  Join join = node("a", 1, 2);
  join.last_call_timeout = 1s;
  const MemberId a = server.connect(join);
  server.pass_alive(1s);
  join.node = "b";
  const MemberId b = server.connect(join);
  EXPECT_EQ(server.last<Restart>(a).cause.kind, Cause::Kind::node_joined);
  EXPECT_FALSE(server.got<Assignment>(b));
  server.say(a, Drained{0, 40000});
  EXPECT_EQ(server.last<Assignment>(b).round, 1);
  EXPECT_EQ(server.last<Assignment>(b).restarts, 0);
  EXPECT_EQ(server.place(a).node_rank, 0);
  EXPECT_EQ(server.place(b).node_rank, 1);
}

TEST(Elastic, NobodyGrowsWithGrowOffOrWhenTheJobIsEnding) {
  ServerOfRuns server;
  Join join = node("a", 1, 2);
  join.last_call_timeout = 0s;
  join.grow = false;
  const MemberId a = server.connect(join);
  server.pass(0s);
  join.node = "b";
  const MemberId b = server.connect(join);
  EXPECT_FALSE(server.got<Restart>(a));
  EXPECT_TRUE(server.last<Waiting>(b).spare);

  ServerOfRuns ending;
  join.grow = true;
  join.min_nodes = 2;
  join.max_nodes = 3;
  const MemberId first = ending.connect(join);
  ending.connect(join);
  ending.pass(0s);
  ending.say(first, Finished{0});
  ending.connect(join);
  EXPECT_FALSE(ending.got<Restart>(first));
}

TEST(Elastic, LeavingIsNotClosing) {
  ServerOfRuns server;
  Join join = node("a", 1, 2);
  join.last_call_timeout = 1s;
  const MemberId a = server.connect(join);
  join.node = "b";
  MemberId b = server.connect(join);
  for (int round = 0; round < 50; ++round) {
    server.say(b, Leave{"stopped by SIGTERM"});
    server.say(a, Drained{2 * round, 40000});
    ASSERT_EQ(server.last<Assignment>(a).nodes.size(), 1u);
    b = server.connect(join);
    server.say(a, Drained{2 * round + 1, 40000});
    ASSERT_EQ(server.last<Assignment>(b).nodes.size(), 2u);
    ASSERT_EQ(server.last<Assignment>(b).restarts, 0);
  }
}

TEST(Elastic, ANewDaemonTakesARunningRoundBack) {
  Resumed job;
  Join spare = node("c", 2, 2);
  const MemberId c = job.server.connect(spare);
  const MemberId b = job.server.connect(job.joins[1]);
  job.server.pass(3s);
  const MemberId a = job.server.connect(job.joins[0]);
  job.server.pass_alive(60s);
  for (const MemberId id : {a, b}) {
    EXPECT_TRUE(job.server.got<Welcome>(id));
    EXPECT_FALSE(job.server.got<Restart>(id));
    EXPECT_FALSE(job.server.got<Assignment>(id));
    EXPECT_FALSE(job.server.got<Abort>(id));
  }
  EXPECT_FALSE(job.server.got<Assignment>(c));
  job.server.say(b, Failed{.round = 0, .rank = 2, .local_rank = 0, .code = 3});
  job.server.answer_pings();
  EXPECT_EQ(job.server.last<Abort>(a).cause.node, "b");
}

TEST(Elastic, WhoDoesNotComeBackToANewDaemonIsLost) {
  Resumed job(1);
  const MemberId a = job.server.connect(job.joins[0]);
  job.server.pass_alive(5s);
  EXPECT_EQ(job.server.last<Restart>(a).cause.text,
            "node b is lost: it did not come back within 5 s after the server was lost");
  job.server.say(a, Drained{0, 40000});
  EXPECT_EQ(job.server.last<Assignment>(a).round, 1);
  const MemberId late = job.server.connect(job.joins[1]);
  EXPECT_EQ(job.server.last<Restart>(late).round, 0) << "its workers belong to nobody any more";
  job.server.say(late, Drained{0, 40000});
  EXPECT_EQ(job.server.last<Restart>(a).cause.kind, Cause::Kind::node_joined);
}

TEST(Elastic, AFailureIsSettledWhenAllAreBackToHearOfIt) {
  Resumed job;
  const MemberId b = job.failed_node();
  EXPECT_TRUE(job.server.got<Stop>(b));
  job.server.pass(3s);
  EXPECT_FALSE(job.server.got<Abort>(b));
  const MemberId a = job.server.connect(job.joins[0]);
  EXPECT_TRUE(job.server.got<Stop>(a));
  EXPECT_FALSE(job.server.got<Abort>(b)) << "node a may know of an earlier failure";
  job.server.answer_pings();
  for (const MemberId id : {a, b}) {
    EXPECT_EQ(job.server.last<Abort>(id).exit_code, 7);
    EXPECT_EQ(job.server.last<Abort>(id).cause.node, "b");
  }
}

TEST(Elastic, WhoeverComesBackLastMayHaveFailedFirst) {
  Resumed job(2, 1);
  const MemberId b = job.failed_node();
  job.server.pass(3s);
  const MemberId a = job.server.connect(job.joins[0]);
  job.server.say(a, Failed{.round = 0, .rank = 1, .local_rank = 1, .code = 9, .age = 5s});
  job.server.answer_pings();
  for (const MemberId id : {a, b}) {
    EXPECT_EQ(job.server.last<Restart>(id).cause.code, 9);
    EXPECT_EQ(job.server.last<Restart>(id).restarts, 1);
  }
}

TEST(Elastic, AFailureWaitsForNobodyLongerThanAReturnMayTake) {
  Resumed job;
  const MemberId b = job.failed_node();
  job.server.pass(4999ms);
  EXPECT_FALSE(job.server.got<Abort>(b));
  job.server.pass(1ms);
  EXPECT_EQ(job.server.last<Abort>(b).exit_code, 125);
  EXPECT_EQ(job.server.last<Abort>(b).cause.text,
            "node a is lost: it did not come back within 5 s after the server was lost");
}

TEST(Elastic, ASilentReturnDelaysTheCauseNoLongerThanTheWindow) {
  Resumed job;
  const MemberId b = job.failed_node();
  job.server.pass(3s);
  job.server.answer_pings();
  const MemberId a = job.server.connect(job.joins[0]);
  job.server.pass(199ms);
  EXPECT_FALSE(job.server.got<Abort>(b));
  job.server.pass(1ms);
  EXPECT_EQ(job.server.last<Abort>(a).exit_code, 7);
}

// It had been told to stop already, so it has no place to show.
TEST(Elastic, WhoJoinsAnewWhileAFailureIsSettledIsNotAwaited) {
  for (const bool first : {true, false}) {
    Resumed job;
    job.joins[0].held.reset();
    const MemberId before = first ? job.server.connect(job.joins[0]) : 0;
    const MemberId b = job.failed_node();
    const MemberId a = first ? before : job.server.connect(job.joins[0]);
    EXPECT_EQ(job.server.last<Abort>(b).exit_code, 7);
    EXPECT_EQ(job.server.last<Abort>(a).exit_code, 7);
  }
}

TEST(Elastic, AReturnOnANewConnectionBeforeTheOldOneIsLostChangesNothing) {
  ServerOfRuns server;
  Join join = node("a", 2, 2);
  const MemberId a = server.connect(join);
  const MemberId b = server.connect(node("b", 2, 2));
  join.held = Held{.server = server.id(), .member = a, .assignment = server.last<Assignment>(a)};
  const MemberId again = server.connect(join);
  EXPECT_TRUE(server.closed.contains(a));
  server.reset(a);
  EXPECT_FALSE(server.got<Restart>(again));
  EXPECT_FALSE(server.got<Abort>(b));
  server.say(again, Finished{0});
  server.say(b, Finished{0});
  EXPECT_TRUE(server.got<Closed>(again));
}

// Another server may have counted its members in the same way.
TEST(Elastic, WhoShowsARoundOfAnotherServerIsANewcomer) {
  ServerOfRuns server;
  Join join = node("a", 2, 2);
  const MemberId a = server.connect(join);
  server.connect(node("b", 2, 2));
  join.held = Held{.server = "another", .member = a, .assignment = server.last<Assignment>(a)};
  const MemberId again = server.connect(join);
  EXPECT_FALSE(server.closed.contains(a));
  EXPECT_TRUE(server.got<Restart>(again));
}

TEST(Elastic, AnAgentCutOffByAResetReturnsAsANewcomer) {
  ServerOfRuns server;
  Join join = node("b", 1, 2);
  const MemberId a = server.connect(node("a", 1, 2));
  const MemberId b = server.connect(join);
  join.held = Held{.server = server.id(), .member = b, .assignment = server.last<Assignment>(b)};
  server.reset(b);
  const MemberId again = server.connect(join);
  EXPECT_EQ(server.last<Restart>(again).round, 0);
  server.say(a, Drained{0, 40000});
  server.say(again, Drained{0, 40001});
  EXPECT_EQ(server.last<Assignment>(again).restarts, 0);
  EXPECT_EQ(server.last<Assignment>(again).nodes.size(), 2u);
}

// It still has workers when the last call is over, and all wait for it: not in a loop.
TEST(Elastic, AReturnDuringTheLastCallDelaysTheRound) {
  ServerOfRuns server;
  Join join = node("a", 2, 3);
  join.last_call_timeout = 2s;
  const MemberId a = server.connect(join);
  join.node = "b";
  const MemberId b = server.connect(join);
  server.pass(2s);
  const Join back = server.holding(join, b);
  server.reset(b);
  server.say(a, Drained{0, 40000});
  join.node = "c";
  const MemberId c = server.connect(join);  // the last call begins
  server.pass_alive(1s);
  const MemberId again = server.connect(back);
  server.pass_alive(3s);  // the test server would notice a timer that is due again at once
  EXPECT_EQ(server.last<Assignment>(a).round, 0);
  server.say(again, Drained{0, 40000});
  for (const MemberId id : {a, c, again}) EXPECT_EQ(server.last<Assignment>(id).round, 1);
}

TEST(Elastic, WhatHadFinishedUnderTheOldDaemonIsFinished) {
  Resumed job;
  job.joins[0].held->finished = true;
  const MemberId a = job.server.connect(job.joins[0]);
  const MemberId b = job.server.connect(job.joins[1]);
  job.server.say(b, Finished{0});
  EXPECT_TRUE(job.server.got<Closed>(a));
}

TEST(Elastic, RoundsAreCountedOnAfterAnAgentThatHasSeenMore) {
  Resumed job(1);
  job.joins[0].held->assignment.round = 7;
  const MemberId b = job.server.connect(job.joins[1]);
  const MemberId a = job.server.connect(job.joins[0]);
  job.server.say(a, Drained{7, 40000});
  job.server.pass_alive(5s);
  job.server.say(b, Drained{0, 40000});
  EXPECT_EQ(job.server.last<Assignment>(a).round, 8);
}

TEST(Elastic, AClaimThatDoesNotFitIsNoMembership) {
  Resumed job;
  job.joins[0].node = "x";
  const MemberId x = job.server.connect(job.joins[0]);
  EXPECT_TRUE(job.server.got<Restart>(x));
  EXPECT_EQ(job.server.runs->snapshot(job.server.now, "r")->state, Snapshot::State::waiting)
      << "and no round to take back";
}

}  // namespace
}  // namespace ddprun::roster
