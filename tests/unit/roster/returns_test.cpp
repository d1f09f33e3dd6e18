// Nodes that come back to a server that lives on, and the end of their run that they have missed.
#include "tests/unit/roster/server_of_runs.h"

namespace ddprun::roster {
namespace {

// A job of nodes a and b at work.
struct AtWork {
  explicit AtWork(int max_restarts = 0) {
    joins = {node("a", 2, 2), node("b", 2, 2)};
    for (std::size_t i = 0; i < 2; ++i) {
      joins[i].max_restarts = max_restarts;
      joins[i].static_ranks = true;
      joins[i].node_rank = static_cast<int>(i);
      ids.push_back(server.connect(joins[i]));
    }
  }
  MemberId a() const { return ids[0]; }
  MemberId b() const { return ids[1]; }
  // As one of the old nodes, which has what it had.
  MemberId return_of(std::size_t i) { return server.connect(server.holding(joins[i], ids[i])); }
  MemberId start_anew(std::size_t i) {
    Join join = joins[i];
    join.pid = 200;
    return server.connect(join);
  }
  std::vector<Join> joins;
  ServerOfRuns server;
  std::vector<MemberId> ids;
};

TEST(Returns, WhoWasCutOffHearsThatTheRunHasEndedWithoutIt) {
  AtWork job;
  job.server.reset(job.b());
  const auto told = job.server.last<Abort>(job.a());
  job.server.pass(4s);
  const MemberId b = job.return_of(1);
  EXPECT_EQ(job.server.last<Abort>(b).why, told.why);
  EXPECT_EQ(job.server.last<Abort>(b).exit_code, 125);
  EXPECT_TRUE(job.server.closed.contains(b));
  EXPECT_FALSE(job.server.got<Welcome>(b));
  EXPECT_EQ(job.server.runs->size(), 0u) << "it begins no run of its own";
}

TEST(Returns, AJobThatIsStartedAnewBeginsAtOnceAndWithoutTheOldNodes) {
  AtWork job;
  job.server.reset(job.b());
  const MemberId a = job.start_anew(0);
  const MemberId old = job.return_of(1);
  const MemberId b = job.start_anew(1);
  EXPECT_EQ(job.server.last<Abort>(old).exit_code, 125);
  for (const MemberId id : {a, b}) {
    EXPECT_EQ(job.server.last<Assignment>(id).nodes.size(), 2u);
    EXPECT_EQ(job.server.last<Assignment>(id).round, 0);
    EXPECT_FALSE(job.server.got<Abort>(id)) << "that was the job before";
  }
  const MemberId again = job.return_of(1);
  EXPECT_EQ(job.server.last<Abort>(again).exit_code, 125) << "however often it asks";
}

TEST(Returns, AFinishedNodeThatWasCutOffHearsThatTheJobEndedWell) {
  AtWork job;
  job.server.say(job.b(), protocol::Finished{0});
  job.server.reset(job.b());
  job.server.say(job.a(), protocol::Finished{0});
  const MemberId b = job.return_of(1);
  EXPECT_TRUE(job.server.got<Closed>(b));
  EXPECT_TRUE(job.server.closed.contains(b));
  EXPECT_EQ(job.server.runs->size(), 0u);
}

TEST(Returns, SoDoesASpare) {
  for (const bool well : {true, false}) {
    ServerOfRuns server;
    const Join join = node("a", 1, 1);
    const MemberId a = server.connect(join);
    const MemberId spare = server.connect(node("spare", 1, 1));
    Join back = node("spare", 1, 1);
    back.former = server.former(spare);
    server.reset(spare);
    if (well) {
      server.say(a, protocol::Finished{0});
    } else {
      server.say(a, Failed{.round = 0, .rank = 1, .local_rank = 1, .code = 7});
    }
    const MemberId again = server.connect(back);
    EXPECT_EQ(server.got<Closed>(again), well);
    EXPECT_EQ(server.got<Abort>(again), !well);
    EXPECT_EQ(server.runs->size(), 0u);
    server.connect(join);
    EXPECT_EQ(server.runs->size(), 1u) << "a node that is started anew may";
  }
}

// It was told into a network that swallows everything.
TEST(Returns, WhoWasToldAndCouldNotHearItIsToldAgain) {
  AtWork job;
  job.server.say(job.a(), Failed{.round = 0, .rank = 0, .local_rank = 0, .code = 7});
  job.server.pass(200ms);
  EXPECT_EQ(job.server.last<Abort>(job.b()).exit_code, 7);
  // So long it takes to notice that nothing comes any more, and then to come back.
  job.server.pass(15s + 4s);
  const MemberId b = job.return_of(1);
  EXPECT_EQ(job.server.last<Abort>(b).exit_code, 7);
  EXPECT_EQ(job.server.last<Abort>(b).cause.rank, 0);
}

TEST(Returns, TheLastWordIsForgottenWhenNobodyComesBackForItAnyMore) {
  AtWork job;
  job.server.reset(job.b());
  EXPECT_GT(job.server.runs->memory_bytes(), 0u);
  job.server.pass(20s - 1ms);
  EXPECT_GT(job.server.runs->memory_bytes(), 0u);
  job.server.pass(1ms);
  EXPECT_EQ(job.server.runs->memory_bytes(), 0u);
  EXPECT_FALSE(job.server.wake_at);
}

TEST(Returns, WhoComesEvenLaterIsRefusedAndBeginsNothing) {
  AtWork job;
  job.server.reset(job.b());
  job.server.pass(60s);
  const MemberId b = job.return_of(1);
  EXPECT_EQ(job.server.last<Refused>(b).why,
            "run r, which node b was part of, has ended while it was cut off");
  EXPECT_EQ(job.server.runs->size(), 0u);
  job.start_anew(0);
  job.start_anew(1);
  const MemberId again = job.return_of(1);
  EXPECT_TRUE(job.server.got<Refused>(again));
  EXPECT_EQ(job.server.runs->snapshot(job.server.now, "r")->nodes.size(), 2u);
}

TEST(Returns, ANodeOfAnotherRunWithTheSameWordsIsNotMeant) {
  AtWork job;
  job.server.reset(job.b());
  Join other = job.server.holding(job.joins[1], job.b());
  other.run = "r2";
  const MemberId b = job.server.connect(other);
  EXPECT_FALSE(job.server.got<Abort>(b));
  EXPECT_TRUE(job.server.got<Refused>(b));
}

TEST(Returns, LastWordsTakeNoMoreThanTheirPart) {
  ServerOfRuns server({.max_memory_bytes = 40'000});
  Join join = node("a", 1, 1);
  Join first;
  for (int i = 0; i < 200; ++i) {
    join.run = "run" + std::to_string(i);
    const MemberId id = server.connect(join);
    ASSERT_FALSE(server.got<Refused>(id)) << i;
    if (i == 0) first = server.holding(join, id);
    server.say(id, protocol::Finished{0});
    EXPECT_LE(server.runs->memory_bytes(), 5'000u);
  }
  EXPECT_TRUE(server.got<Refused>(server.connect(first))) << "the oldest one went first";
}

// Nobody else was told anything.
TEST(Returns, TheOnlyNodeOfARoundGoesOn) {
  ServerOfRuns server;
  const Join join = node("a", 1, 1);
  const MemberId a = server.connect(join);
  server.reset(a);
  EXPECT_EQ(server.runs->connections(), 0u);
  server.pass(4s);
  const MemberId again = server.connect(server.holding(join, a));
  EXPECT_TRUE(server.got<Welcome>(again));
  EXPECT_FALSE(server.got<Restart>(again));
  EXPECT_FALSE(server.got<Abort>(again));
  server.pass_alive(60s);
  server.say(again, protocol::Finished{0});
  EXPECT_TRUE(server.got<Closed>(again));
}

TEST(Returns, ButNotAfterItHasLeft) {
  ServerOfRuns server;
  const Join join = node("b", 1, 2);
  const MemberId a = server.connect(node("a", 1, 2));
  const MemberId b = server.connect(join);
  server.reset(b);
  server.say(a, Drained{0, 40000});
  server.say(a, Leave{"stopped by SIGTERM"});
  const MemberId again = server.connect(server.holding(join, b));
  EXPECT_EQ(server.runs->snapshot(server.now, "r")->state, Snapshot::State::waiting);
  server.say(again, Drained{0, 40000});
  server.pass_alive(30s);
  EXPECT_EQ(server.last<Assignment>(again).round, 2);
}

TEST(Returns, NotIfItStaysAway) {
  ServerOfRuns server;
  const Join join = node("a", 1, 1);
  const MemberId a = server.connect(join);
  server.reset(a);
  server.pass(5s);
  EXPECT_EQ(server.runs->size(), 0u);
  const MemberId late = server.connect(server.holding(join, a));
  EXPECT_EQ(server.last<Abort>(late).exit_code, 125);
  EXPECT_EQ(server.last<Abort>(late).why, "node a is lost: it did not come back within 5 s");
}

TEST(Returns, ARunThatHasLostAllItsNodesIsKeptForThemAndForNobodyElse) {
  for (const bool anew : {false, true}) {
    AtWork job(3);
    for (const MemberId id : job.ids) job.server.reset(id);
    job.server.pass(4s);
    const MemberId first = anew ? job.start_anew(0) : job.return_of(0);
    const MemberId second = job.return_of(1);
    if (anew) {
      EXPECT_EQ(job.server.last<Refused>(second).why,
                "run r, which node b was part of, has ended while it was cut off");
      EXPECT_FALSE(job.server.got<Assignment>(first));
      continue;
    }
    job.server.say(first, Drained{0, 40000});
    job.server.say(second, Drained{0, 40000});
    EXPECT_EQ(job.server.last<Assignment>(first).round, 1);
    EXPECT_EQ(job.server.last<Assignment>(second).restarts, 0);
  }
}

TEST(Returns, NotForLongerThanAReturnMayTake) {
  AtWork job(3);
  job.server.pass(3s);
  for (const MemberId id : job.ids) job.server.reset(id);
  job.server.pass(15s + 5s - 1ms);  // until it notices the silence, and its patience then
  EXPECT_EQ(job.server.runs->size(), 1u);
  job.server.pass(1ms);
  EXPECT_EQ(job.server.runs->size(), 0u) << "whenever a ping would be due";
  EXPECT_FALSE(job.server.wake_at);
  EXPECT_EQ(job.server.runs->memory_bytes(), 0u);
}

// Whatever a job says, no server keeps for ever what is left of it.
TEST(Returns, NobodyIsAwaitedForDays) {
  for (const bool ended : {true, false}) {
    ServerOfRuns server;
    Join join = node("a", ended ? 1 : 2, ended ? 1 : 2);
    join.reconnect_timeout = join.join_timeout = 1000h;
    const MemberId a = server.connect(join);
    if (ended) server.say(a, protocol::Finished{0});
    if (!ended) server.reset(a);
    server.pass(59min);
    EXPECT_GT(server.runs->memory_bytes(), 0u);
    server.pass(2min);
    EXPECT_EQ(server.runs->memory_bytes(), 0u);
  }
}

TEST(Returns, ANodeThatWaitedForTheFirstRoundWaitsOn) {
  ServerOfRuns server;
  Join join = node("a", 2, 2);
  const MemberId a = server.connect(join);
  join.former = server.former(a);
  server.reset(a);
  server.pass(1s);
  const MemberId again = server.connect(join);
  EXPECT_EQ(server.former(again).run_directory, join.former->run_directory);
  server.connect(node("b", 2, 2));
  EXPECT_TRUE(server.got<Assignment>(again));
}

// A server that was stopped finds the ends of connections that its agents have given up, and their
// new ones behind them.
TEST(Returns, AServerThatSleptLosesNobodyWhoIsBackAtOnce) {
  AtWork job;
  job.server.now += 60s;
  for (const MemberId id : job.ids) job.server.reset(id);
  const MemberId a = job.return_of(0), b = job.return_of(1);
  job.server.pass_alive(60s);
  for (const MemberId id : {a, b}) {
    EXPECT_FALSE(job.server.got<Abort>(id));
    EXPECT_FALSE(job.server.got<protocol::Restart>(id)) << "its workers go on";
  }
  job.server.say(a, protocol::Finished{0});
  job.server.say(b, protocol::Finished{0});
  EXPECT_TRUE(job.server.got<Closed>(a));
}

TEST(Returns, AServerThatSleptLosesWhoIsNotBack) {
  AtWork job;
  job.server.now += 60s;
  for (const MemberId id : job.ids) job.server.reset(id);
  const MemberId a = job.return_of(0);
  job.server.pass_alive(6s);
  EXPECT_EQ(job.server.last<Abort>(a).exit_code, 125);
}

// The one that is awaited comes while the one that waits is cut off.
TEST(Returns, ANodeThatWaitedMeetsWhoCameMeanwhile) {
  ServerOfRuns server;
  Join a = node("a", 2, 2);
  const MemberId first = server.connect(a);
  a.former = server.former(first);
  server.reset(first);
  const MemberId b = server.connect(node("b", 2, 2));
  const MemberId again = server.connect(a);
  EXPECT_EQ(server.last<Assignment>(again).nodes.size(), 2u);
  EXPECT_TRUE(server.got<Assignment>(b));
}

TEST(Returns, NorDoesItKeepAJobWithOtherOptionsFromBeginning) {
  ServerOfRuns server;
  server.reset(server.connect(node("a", 2, 2)));
  EXPECT_TRUE(server.got<Welcome>(server.connect(node("a", 3, 3))));
}

// Nor does a node that comes back to it make room for itself.
TEST(Returns, WhoComesBackToAFullServerFindsItsRun) {
  ServerOfRuns server({.max_memory_bytes = 12'000});
  Join join = node("a", 2, 2);
  const MemberId a = server.connect(join);
  join.former = server.former(a);
  join.program = std::string(5'000, 'x');  // more than half of the memory is for one run
  server.reset(a);
  EXPECT_TRUE(server.got<Refused>(server.connect(join)));
  EXPECT_EQ(server.runs->size(), 1u) << "it is there for the others";
}

// Room for others comes before room for those who may come back.
TEST(Returns, ARunWithoutNodesIsNoReasonToRefuseAnother) {
  ServerOfRuns server({.max_runs = 1});
  server.reset(server.connect(node("a", 2, 2)));
  EXPECT_EQ(server.runs->size(), 1u);
  Join other = node("b", 2, 2);
  other.run = "other";
  EXPECT_TRUE(server.got<Welcome>(server.connect(other)));
  EXPECT_EQ(server.runs->size(), 1u);
}

TEST(Returns, WhoWantsAPlaceInACancelledRunIsCancelledAsWell) {
  AtWork job;
  const MemberId rival = job.start_anew(1);
  job.server.connect(AskCancel{.run = "r", .by = "me"});
  EXPECT_TRUE(job.server.got<Abort>(rival));
  EXPECT_EQ(job.server.runs->size(), 0u);
}

// And no more of them than it takes.
TEST(Returns, ARefusalThatIsNotForWantOfRoomForgetsNoRun) {
  ServerOfRuns server({.max_members = 1});
  server.connect(node("b", 1, 1));
  Join away = node("a", 2, 2);
  away.run = "away";
  server.reset(server.connect(away));
  EXPECT_TRUE(server.got<Refused>(server.connect(node("c", 1, 1)))) << "its run is full";
  Join nameless = node("d", 2, 2);
  nameless.run = "none";
  EXPECT_TRUE(server.got<Refused>(server.connect(nameless)));
  EXPECT_EQ(server.runs->size(), 2u);
}

TEST(Returns, OfTwoRunsWithoutNodesTheOneThatIsLongerAwayMakesRoom) {
  ServerOfRuns server({.max_runs = 2});
  Join first = node("a", 2, 2), second = node("b", 2, 2), third = node("c", 2, 2);
  first.run = "z";
  second.run = "a";
  third.run = "m";
  server.reset(server.connect(first));
  server.pass(1s);
  server.reset(server.connect(second));
  EXPECT_TRUE(server.got<Welcome>(server.connect(third)));
  EXPECT_FALSE(server.runs->snapshot(server.now, "z"));
  EXPECT_TRUE(server.runs->snapshot(server.now, "a"));
}

TEST(Returns, WithAnEmbeddedServerNobodyComesBack) {
  ServerOfRuns server({}, true);
  const MemberId a = server.connect(node("a", 1, 1));
  server.reset(a);
  EXPECT_EQ(server.runs->size(), 0u);
  EXPECT_EQ(server.runs->memory_bytes(), 0u);
  EXPECT_FALSE(server.wake_at);
}

// Its old self was silent, and its loss ends the old job only.
TEST(Returns, WhoWantsThePlaceOfANodeThatIsLostIsOfTheNextJob) {
  AtWork job;
  const MemberId b = job.start_anew(1);
  job.server.answer_pings(job.a());
  job.server.pass(1s);
  EXPECT_EQ(job.server.last<Abort>(job.a()).exit_code, 125);
  EXPECT_FALSE(job.server.got<Abort>(b));
  EXPECT_TRUE(job.server.got<Welcome>(b));
  const MemberId a = job.start_anew(0);
  EXPECT_EQ(job.server.last<Assignment>(a).nodes.at(1).member, b);
}

}  // namespace
}  // namespace ddprun::roster
