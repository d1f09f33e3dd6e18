// Several servers that are one: the head is lost at every moment of a job, and the next one finds
// what it has written.
#include "tests/unit/roster/server_of_runs.h"

namespace ddprun::roster {
namespace {

class TakeOver : public testing::Test {
 protected:
  Join joining(const std::string& name) const {
    Join join = node(name, min_, max_);
    join.max_restarts = max_restarts_;
    return join;
  }
  // An agent that was told by the last server which run it belongs to, and waits.
  Join waiting(const std::string& name, MemberId was) const {
    Join join = joining(name);
    join.former = server_.former(was);
    return join;
  }
  Join holding(const std::string& name, MemberId was) const {
    Join join = server_.holding(joining(name), was);
    join.former->round = join.held->assignment.round;
    return join;
  }
  // An agent whose workers are being stopped, or have ended.
  Join stopped(const std::string& name, MemberId was) const {
    Join join = waiting(name, was);
    join.former->round = server_.last<Assignment>(was).round;
    return join;
  }
  void run() {
    a_ = server_.connect(joining("a"));
    b_ = server_.connect(joining("b"));
    ASSERT_TRUE(server_.got<Assignment>(b_));
  }
  void fail_on_b() {
    server_.say(b_, Failed{.round = 0, .rank = 2, .local_rank = 0, .code = 7, .age = 1ms});
    server_.answer_pings();
  }

  ServerOfRuns server_ = ServerOfRuns::durable();
  int min_ = 2;
  int max_ = 2;
  int max_restarts_ = 0;
  MemberId a_ = 0, b_ = 0;
};

TEST_F(TakeOver, WhoeverWaitsGoesOnWaitingAndTheRunIsTheSame) {
  a_ = server_.connect(joining("a"));
  server_.fail_over();
  const MemberId a = server_.connect(waiting("a", a_));
  const MemberId b = server_.connect(joining("b"));
  EXPECT_EQ(server_.last<Assignment>(a).round, 0);
  EXPECT_TRUE(server_.got<Assignment>(b));
  EXPECT_EQ(server_.former(a).run_directory, server_.former(a_).run_directory);
  EXPECT_EQ(server_.former(b).run_directory, server_.former(a_).run_directory);
}

constexpr const char* kNetwork = "10.0.0.7";

// Each address may have begun two runs of four.
class TakeOverOfAFullServer : public TakeOver {
 protected:
  TakeOverOfAFullServer() { server_ = ServerOfRuns({.max_runs = 4}, false, true); }

  MemberId begin(const std::string& run) {
    Join join = joining("n");
    join.run = run;
    return server_.connect(join, true, kNetwork);
  }
  MemberId come_back(const std::string& run, MemberId was) {
    Join join = waiting("n", was);
    join.run = run;
    return server_.connect(join, true, kNetwork);
  }
};

TEST_F(TakeOverOfAFullServer, ARunStaysOneOfTheAddressThatHasBegunIt) {
  const MemberId x = begin("x");
  const MemberId y = begin("y");
  server_.fail_over();
  EXPECT_TRUE(server_.got<Welcome>(come_back("x", x)));
  EXPECT_TRUE(server_.got<Welcome>(come_back("y", y)));
  EXPECT_TRUE(server_.got<Refused>(begin("z")));
}

// Whoever waited for the end of the last run under that id.
TEST_F(TakeOverOfAFullServer, WhoBeginsTheNextRunDoesSoForItsOwnAddress) {
  begin("x");
  run();
  server_.fail_over();
  const MemberId x = begin("x");
  const MemberId next = server_.connect(joining("c"), true, kNetwork);
  server_.pass_alive(60s);
  ASSERT_EQ(server_.all<Welcome>(next).size(), 2u) << "to the old run, and to its own";
  EXPECT_FALSE(server_.closed.contains(x));
  EXPECT_TRUE(server_.got<Refused>(begin("z")));
}

// Each learned of the run from another head, and neither may be taken for one of another run.
TEST_F(TakeOver, NodesThatWaitedAtDifferentHeadsAreOfOneRun) {
  a_ = server_.connect(joining("a"));
  server_.fail_over();
  b_ = server_.connect(waiting("a", a_));
  server_.reset(b_);
  server_.fail_over();
  const MemberId late = server_.connect(joining("b"));
  server_.fail_over();
  const MemberId b = server_.connect(waiting("b", late));
  const MemberId a = server_.connect(waiting("a", a_));
  EXPECT_FALSE(server_.got<Refused>(a));
  EXPECT_FALSE(server_.got<Refused>(b));
  EXPECT_TRUE(server_.got<Assignment>(a));
  EXPECT_TRUE(server_.got<Assignment>(b));
}

TEST_F(TakeOver, ARoundGoesOnWhenAllAreBack) {
  run();
  server_.fail_over();
  const MemberId b = server_.connect(holding("b", b_));
  server_.pass_alive(15s);
  const MemberId a = server_.connect(holding("a", a_));
  for (const MemberId id : {a, b}) {
    EXPECT_FALSE(server_.got<Restart>(id));
    EXPECT_FALSE(server_.got<Assignment>(id)) << "it has one";
    server_.say(id, Finished{0});
  }
  EXPECT_TRUE(server_.got<Closed>(a));
  EXPECT_TRUE(server_.got<Closed>(b));
}

TEST_F(TakeOver, ItsHeadMayBeLostAgainAndAgain) {
  run();
  MemberId a = a_, b = b_;
  for (int i = 0; i < 5; ++i) {
    server_.fail_over();
    Join of_a = holding("a", a_), of_b = holding("b", b_);
    of_a.former = server_.former(a);
    of_b.former = server_.former(b);
    a = server_.connect(of_a);
    b = server_.connect(of_b);
    ASSERT_FALSE(server_.got<Restart>(a) || server_.got<Restart>(b)) << i;
  }
  server_.say(a, Finished{0});
  server_.say(b, Finished{0});
  EXPECT_TRUE(server_.got<Closed>(a));
}

// They notice a silent head only after 15 s, and look for the next one for 5 s.
TEST_F(TakeOver, NodesOfASilentHeadAreAwaitedForAsLongAsTheyNeed) {
  run();
  server_.fail_over();
  const MemberId a = server_.connect(holding("a", a_));
  server_.pass_alive(19900ms);
  EXPECT_FALSE(server_.got<Abort>(a));
  server_.pass_alive(100ms);
  EXPECT_EQ(server_.last<Abort>(a).cause.text,
            "node b is lost: it did not come back within 20 s after the server was lost");
}

TEST_F(TakeOver, ARoundThatNobodyHasHeardOfIsFormedAnew) {
  a_ = server_.connect(joining("a"));
  const MemberId told = a_;
  server_.mute = true;
  b_ = server_.connect(joining("b"));
  server_.fail_over();
  const MemberId a = server_.connect(waiting("a", told));
  // It has not even heard that it is a member.
  const MemberId b = server_.connect(joining("b"));
  EXPECT_EQ(server_.last<Assignment>(a).round, 1) << "the number was given away";
  EXPECT_EQ(server_.last<Assignment>(b).round, 1);
  EXPECT_EQ(server_.last<Assignment>(b).restarts, 0);
}

TEST_F(TakeOver, ARoundThatOnlyOneHasHeardOfIsFormedAnew) {
  a_ = server_.connect(joining("a"));
  b_ = server_.connect(joining("b"));
  server_.fail_over();
  const MemberId a = server_.connect(holding("a", a_));
  const MemberId b = server_.connect(waiting("b", b_));  // Assignment was lost on its way
  EXPECT_EQ(server_.last<Restart>(a).restarts, 0);
  EXPECT_EQ(server_.last<Restart>(a).cause.text,
            "round 0 had not begun on node b when the server was lost");
  server_.say(a, Drained{0, 40000});
  EXPECT_EQ(server_.last<Assignment>(a).round, 1);
  EXPECT_EQ(server_.last<Assignment>(b).round, 1);
}

class WithRestarts : public TakeOver {
 protected:
  WithRestarts() { max_restarts_ = 3; }
};

TEST_F(WithRestarts, ARestartThatNobodyHasHeardOfIsSpentOnce) {
  run();
  server_.say(b_, Failed{.round = 0, .rank = 2, .local_rank = 0, .code = 7, .age = 1ms});
  server_.mute = true;
  server_.answer_pings();
  server_.fail_over();
  const MemberId a = server_.connect(holding("a", a_));
  const MemberId b = server_.connect(holding("b", b_));
  server_.say(b, Failed{.round = 0, .rank = 2, .local_rank = 0, .code = 7, .age = 9ms});
  for (const MemberId id : {a, b}) {
    EXPECT_EQ(server_.all<Restart>(id).size(), 1u);
    EXPECT_EQ(server_.last<Restart>(id).restarts, 1);
    EXPECT_EQ(server_.last<Restart>(id).cause.kind, Cause::Kind::worker_failed)
        << "all know why, though another server has found it out";
    server_.say(id, Drained{0, 40000});
  }
  EXPECT_EQ(server_.last<Assignment>(a).restarts, 1);
  EXPECT_EQ(server_.last<Assignment>(b).round, 1);
}

TEST_F(WithRestarts, WhoHasStoppedItsWorkersComesBackForTheNextRoundAtOnce) {
  min_ = 1;
  max_ = 3;
  a_ = server_.connect(joining("a"));
  b_ = server_.connect(joining("b"));
  server_.pass_alive(30s);
  fail_on_b();
  ASSERT_TRUE(server_.got<Restart>(a_));
  server_.fail_over();
  const MemberId a = server_.connect(stopped("a", a_));
  server_.pass_alive(100ms);
  EXPECT_FALSE(server_.got<Assignment>(a)) << "the other one is on its way";
  const MemberId b = server_.connect(stopped("b", b_));
  EXPECT_EQ(server_.last<Assignment>(a).restarts, 1);
  EXPECT_EQ(server_.last<Assignment>(b).nodes.size(), 2u) << "nobody else is called";
}

TEST_F(WithRestarts, ARestartThatIsNotSpentAfterAllIsNotForTheNextEither) {
  min_ = 1;
  run();
  fail_on_b();
  ASSERT_EQ(server_.last<Restart>(a_).restarts, 1);
  server_.reset(a_);  // its loss explains the failure
  server_.fail_over();
  const MemberId b = server_.connect(stopped("b", b_));
  server_.pass_alive(31s);
  EXPECT_EQ(server_.last<Assignment>(b).restarts, 0);
}

TEST_F(WithRestarts, TheLastCallIsForThoseOfTheRoundAlone) {
  min_ = 1;
  run();
  const MemberId spare = server_.connect(joining("c"));
  server_.reset(spare);
  fail_on_b();
  server_.fail_over();
  const MemberId a = server_.connect(stopped("a", a_));
  server_.pass_alive(29s);
  EXPECT_FALSE(server_.got<Assignment>(a));
  server_.pass_alive(2s);
  EXPECT_EQ(server_.last<Assignment>(a).nodes.size(), 1u) << "b does not come back";
}

TEST_F(WithRestarts, AFailureThatWasNotDecidedIsDecidedByTheNext) {
  run();
  server_.say(b_, Failed{.round = 0, .rank = 2, .local_rank = 0, .code = 7, .age = 1ms});
  ASSERT_TRUE(server_.got<Stop>(a_));
  server_.fail_over();
  const MemberId a = server_.connect(stopped("a", a_));
  const MemberId b = server_.connect(holding("b", b_));
  server_.say(b, Failed{.round = 0, .rank = 2, .local_rank = 0, .code = 7, .age = 9ms});
  server_.answer_pings();
  server_.pass_alive(300ms);
  EXPECT_EQ(server_.last<Restart>(b).restarts, 1);
  server_.say(b, Drained{0, 40000});
  EXPECT_EQ(server_.last<Assignment>(a).restarts, 1);
}

TEST_F(TakeOver, AnEndThatNobodyHasHeardOfIsToldToWhoeverComesBack) {
  run();
  server_.say(b_, Failed{.round = 0, .rank = 2, .local_rank = 0, .code = 7, .age = 1ms});
  server_.mute = true;
  server_.answer_pings();
  server_.fail_over();
  for (const MemberId id : {server_.connect(holding("a", a_)), server_.connect(holding("b", b_))}) {
    EXPECT_EQ(server_.last<Abort>(id).exit_code, 7);
    EXPECT_TRUE(server_.closed.contains(id));
  }
}

TEST_F(TakeOver, AJobWhoseNodesHadAllFinishedHasEnded) {
  run();
  server_.say(a_, Finished{0});
  const auto before = server_.kept;
  server_.say(b_, Finished{0});
  // All was written but the end.
  std::string& last = (server_.kept = before).at("runs/r");
  last.replace(last.rfind("\"finished\":false"), 16, "\"finished\":true");
  server_.fail_over();
  const MemberId b = server_.connect(holding("b", b_));
  EXPECT_TRUE(server_.got<Closed>(b)) << "though a does not come back";
}

TEST_F(TakeOver, AnEndIsForgottenWhenNobodyCanComeBackAnyMore) {
  run();
  server_.say(a_, Finished{0});
  server_.say(b_, Finished{0});
  EXPECT_EQ(server_.kept.size(), 1u);
  EXPECT_FALSE(server_.kept.contains("runs/r"));
  server_.fail_over();
  server_.pass(21s);
  EXPECT_TRUE(server_.kept.empty());
}

TEST_F(TakeOver, ARunToWhichNobodyComesBackIsForgotten) {
  run();
  server_.fail_over();
  server_.pass(60s);
  EXPECT_EQ(server_.runs->size(), 0u);
  EXPECT_FALSE(server_.kept.contains("runs/r"));
}

TEST_F(TakeOver, WhoeverHasFinishedAndGoneIsNotAwaited) {
  run();
  server_.say(b_, Finished{0});
  server_.fail_over();
  const MemberId a = server_.connect(holding("a", a_));
  server_.pass_alive(30s);
  EXPECT_FALSE(server_.got<Restart>(a) || server_.got<Abort>(a));
  server_.say(a, Finished{0});
  EXPECT_TRUE(server_.got<Closed>(a));
}

// Spares that are started just then must not begin another job under the same id.
TEST_F(TakeOver, NewcomersThatComeFirstAreNotTakenForANewJob) {
  min_ = 1;
  run();
  server_.fail_over();
  const MemberId c = server_.connect(joining("c"));
  const MemberId d = server_.connect(joining("d"));
  EXPECT_FALSE(server_.got<Assignment>(d));
  const MemberId a = server_.connect(holding("a", a_));
  const MemberId b = server_.connect(holding("b", b_));
  EXPECT_FALSE(server_.got<Refused>(a) || server_.got<Refused>(b));
  EXPECT_FALSE(server_.got<Restart>(a) || server_.got<Restart>(b));
  EXPECT_TRUE(server_.last<Waiting>(c).spare);
}

TEST_F(TakeOver, OnlyWhatCountsIsWritten) {
  run();
  const std::size_t before = server_.writes;
  server_.say(a_, Started{0, {{1, "CPU"}, {2, "CPU"}}});
  server_.pass_alive(60s);
  EXPECT_EQ(server_.writes, before) << "pings and pids are nobody's business";
}

TEST_F(TakeOver, NoSecretIsWritten) {
  Join a = joining("a");
  a.store_key = std::string(64, 'f');
  server_.connect(a);
  Join b = joining("b");
  b.store_key = std::string(64, 'f');
  const MemberId id = server_.connect(b);
  ASSERT_EQ(server_.last<Assignment>(id).store_key, a.store_key);
  for (const auto& [key, value] : server_.kept)
    EXPECT_EQ(value.find("ffffffff"), std::string::npos) << key;
}

TEST(NotDurable, NothingIsWritten) {
  ServerOfRuns server;
  server.connect(node("a", 1, 1));
  EXPECT_EQ(server.writes, 0u);
}

}  // namespace
}  // namespace ddprun::roster
