// What happens when something fails in a round: to whom it is charged, and what all are told.
#include "tests/unit/roster/server_of_runs.h"

namespace ddprun::roster {
namespace {

struct Two {
  explicit Two(int max_restarts, int min = 2, int max = 2, int nodes = 2) {
    for (int i = 0; i < nodes; ++i) {
      Join join = node(std::string(1, static_cast<char>('a' + i)), min, max);
      join.max_restarts = max_restarts;
      if (nodes < max) join.last_call_timeout = 0s;
      ids.push_back(server.connect(join));
    }
    if (nodes < max) server.pass(0s);
  }
  MemberId a() const { return ids[0]; }
  MemberId b() const { return ids[1]; }
  int round() const { return server.last<Assignment>(a()).round; }
  Failed failed(int rank, int code, nanoseconds age = 0ns) const {
    return {.round = round(), .rank = rank, .local_rank = rank % 2, .code = code, .age = age};
  }
  void drain(MemberId id, int of, int port = 40000) {
    server.say(id, Drained{of, static_cast<std::uint16_t>(port)});
  }

  ServerOfRuns server;
  std::vector<MemberId> ids;
};

TEST(Failures, WithoutRestartsAllAbortWithTheSameCauseOnceAllHaveAnswered) {
  Two job(0);
  job.server.say(job.b(),
                 Failed{.round = 0, .rank = 3, .local_rank = 1, .signal = 11, .lines = {"boom"}});
  for (const MemberId id : job.ids) {
    EXPECT_EQ(job.server.last<Stop>(id).why, "rank 3 (local rank 1) on node b failed: SIGSEGV");
    EXPECT_FALSE(job.server.got<Abort>(id)) << "node a may be lost";
  }
  job.server.answer_pings(job.a());
  for (const MemberId id : job.ids) {
    const auto abort = job.server.last<Abort>(id);
    EXPECT_EQ(abort.exit_code, 139);
    EXPECT_EQ(abort.cause.rank, 3);
    EXPECT_EQ(abort.cause.node, "b");
    EXPECT_EQ(abort.cause.lines, std::vector<std::string>{"boom"});
    EXPECT_TRUE(job.server.closed.contains(id));
  }
  EXPECT_EQ(job.server.runs->size(), 0u);
  EXPECT_EQ(job.server.runs->connections(), 0u);
}

TEST(Failures, ASilentNodeDelaysTheAbortNoLongerThanTheWindow) {
  Two job(0);
  job.server.say(job.a(), job.failed(0, 3));
  job.server.pass(199ms);
  EXPECT_FALSE(job.server.got<Abort>(job.b()));
  job.server.pass(1ms);
  EXPECT_EQ(job.server.last<Abort>(job.b()).exit_code, 3);
}

TEST(Failures, TheFirstIsTheOneThatEndedFirstNotTheOneThatIsHeardFirst) {
  Two job(0, 3, 3, 3);
  job.server.say(job.a(), job.failed(0, 3, 1ms));
  job.server.pass(5ms);
  job.server.say(job.b(), job.failed(2, 4, 50ms));
  job.server.pass(5ms);
  job.server.say(job.ids[2], job.failed(5, 5, 2ms));
  job.server.answer_pings();
  for (const MemberId id : job.ids) EXPECT_EQ(job.server.last<Abort>(id).cause.rank, 2);
  EXPECT_EQ(job.server.last<Abort>(job.a()).exit_code, 4);
}

TEST(Failures, ARestartIsCountedOnceForAllAndItsStoreIsFresh) {
  Two job(2);
  job.server.say(job.b(), job.failed(2, 3));
  job.server.answer_pings();
  const auto restart = job.server.last<Restart>(job.a());
  EXPECT_EQ(restart.restarts, 1);
  EXPECT_EQ(restart.cause.rank, 2);
  EXPECT_EQ(restart.why,
            "rank 2 (local rank 0) on node b failed: exit code 3; restart 1 of 2 follows");
  job.drain(job.b(), 0);
  EXPECT_EQ(job.round(), 0) << "node a still has workers";
  job.drain(job.a(), 0, 40001);
  for (const MemberId id : job.ids) {
    const auto round = job.server.last<Assignment>(id);
    EXPECT_EQ(round.round, 1);
    EXPECT_EQ(round.restarts, 1);
    EXPECT_EQ(round.max_restarts, 2);
    EXPECT_EQ(round.store_port, 40001);
  }
}

TEST(Failures, TheBudgetIsOneForTheJob) {
  Two job(2);
  for (int round = 0; round < 2; ++round) {
    job.server.say(job.ids[static_cast<std::size_t>(round)], job.failed(2 * round, 3));
    job.server.answer_pings();
    for (const MemberId id : job.ids) job.drain(id, round);
  }
  job.server.say(job.a(), job.failed(1, 7));
  job.server.answer_pings();
  const auto abort = job.server.last<Abort>(job.b());
  EXPECT_EQ(abort.exit_code, 7);
  EXPECT_NE(abort.why.find("all restarts are spent (2 of 2)"), std::string::npos) << abort.why;
}

TEST(Failures, WhatOnlyTheNodeKnowsIsPassedOn) {
  Two job(0);
  Failed failed = job.failed(2, 1);
  failed.how = "no progress for 5 s (--progress-timeout)";
  failed.absent = {0, 1};
  failed.silent_too = {3};
  job.server.say(job.b(), failed);
  job.server.answer_pings();
  const Cause cause = job.server.last<Abort>(job.a()).cause;
  EXPECT_EQ(cause.text,
            "rank 2 (local rank 0) on node b failed: no progress for 5 s (--progress-timeout); "
            "ranks 0-1 did not take part");
  EXPECT_EQ(cause.how, failed.how);
  EXPECT_EQ(cause.absent, failed.absent);
  EXPECT_EQ(cause.silent_too, failed.silent_too);
}

TEST(Failures, OfNodesWithOneNameTheNodeRankIsSaid) {
  ServerOfRuns server;
  const Join join = node("vm", 2, 2);
  const MemberId first = server.connect(join);
  const MemberId second = server.connect(join);
  server.reset(second);
  EXPECT_NE(server.last<Abort>(first).why.find("node vm (node rank 1) is lost: its connection"),
            std::string::npos)
      << server.last<Abort>(first).why;
}

TEST(Failures, WhatFollowsAFailureIsNoSecondOne) {
  Two job(2);
  job.server.say(job.a(), job.failed(0, 3));
  job.server.answer_pings();
  job.server.say(job.b(), job.failed(2, 1));
  job.drain(job.a(), 0);
  job.drain(job.b(), 0);
  EXPECT_EQ(job.server.last<Assignment>(job.a()).restarts, 1);
}

TEST(Failures, ALostNodeOfAFixedWorldWithoutRestartsAbortsAtOnce) {
  Two job(0);
  job.server.reset(job.b());
  const auto abort = job.server.last<Abort>(job.a());
  EXPECT_EQ(abort.exit_code, 125);
  EXPECT_EQ(abort.cause.kind, Cause::Kind::node_lost);
  EXPECT_EQ(abort.why,
            "node b is lost: its connection was reset; all 2 nodes are needed, and --max-restarts "
            "is 0");
}

TEST(Failures, ANodeThatLeavesIsNamedWithItsReason) {
  Two job(0);
  job.server.say(job.b(), Leave{"stopped by SIGTERM"});
  EXPECT_NE(job.server.last<Abort>(job.a()).why.find("node b left: stopped by SIGTERM"),
            std::string::npos);
}

TEST(Failures, WhatNoRestartWouldHelpSpendsNone) {
  Two job(3);
  Failed failed = job.failed(2, 126);
  failed.exit_code = 126;
  failed.lines = {"cannot execute 'train'"};
  job.server.say(job.b(), failed);
  job.server.answer_pings();
  for (const MemberId id : job.ids) {
    const auto abort = job.server.last<Abort>(id);
    EXPECT_EQ(abort.exit_code, 126);
    EXPECT_EQ(abort.cause.lines, failed.lines);
    EXPECT_EQ(abort.why, "rank 2 (local rank 0) on node b failed: exit code 126");
    EXPECT_FALSE(job.server.got<Restart>(id));
  }
}

TEST(Failures, ATimeLimitOfOneNodeEndsTheJobOnAllOfThem) {
  Two job(3, 1, 2, 3);  // the third is a spare
  job.server.say(job.b(), Leave{"stopped after 60 s (--timeout)", 124});
  for (const MemberId id : {job.a(), job.ids[2]}) {
    const auto abort = job.server.last<Abort>(id);
    EXPECT_EQ(abort.exit_code, 124);
    EXPECT_EQ(abort.cause.kind, Cause::Kind::node_left);
    EXPECT_EQ(abort.cause.node, "b");
    EXPECT_EQ(abort.why, "node b left: stopped after 60 s (--timeout)");
    EXPECT_FALSE(job.server.got<Restart>(id));
    EXPECT_TRUE(job.server.closed.contains(id));
  }
  EXPECT_FALSE(job.server.got<Abort>(job.b())) << "it knows";
  EXPECT_EQ(job.server.runs->size(), 0u);
}

TEST(Failures, ASpareThatIsStoppedEndsNobodyElse) {
  Two job(0, 2, 2, 3);
  job.server.say(job.ids[2], Leave{"stopped by SIGTERM", 143});
  for (const MemberId id : {job.a(), job.b()}) {
    EXPECT_FALSE(job.server.got<Abort>(id));
    EXPECT_FALSE(job.server.got<Restart>(id));
  }
  EXPECT_EQ(job.server.runs->size(), 1u);
  job.server.say(job.b(), Leave{"stopped by SIGTERM", 143});
  EXPECT_EQ(job.server.last<Abort>(job.a()).exit_code, 143) << "a node of the round does";
}

TEST(Failures, ALostNodeIsWaitedForWhenRestartsAreAllowed) {
  Two job(1);
  job.server.reset(job.b());
  EXPECT_EQ(job.server.last<Restart>(job.a()).restarts, 0) << "a loss spends no restart";
  job.drain(job.a(), 0);
  job.server.pass_alive(100s);
  EXPECT_FALSE(job.server.got<Abort>(job.a()));
  Join back = node("b", 2, 2);
  back.max_restarts = 1;
  const MemberId again = job.server.connect(back);
  EXPECT_EQ(job.server.last<Assignment>(again).restarts, 0);
  EXPECT_EQ(job.server.place(job.a()).node_rank, 0);
}

TEST(Failures, AReplacementThatNeverComesEndsTheJobAtTheJoinTimeout) {
  Two job(1);
  job.server.reset(job.b());
  job.drain(job.a(), 0);
  job.server.pass_alive(600s);
  const auto abort = job.server.last<Abort>(job.a());
  EXPECT_EQ(abort.exit_code, 125);
  EXPECT_NE(abort.why.find("before that, node b is lost"), std::string::npos) << abort.why;
}

TEST(Failures, WhoStopsForEverIsLeftBehindAtTheJoinTimeout) {
  Two job(0, 1, 3, 3);
  job.server.reset(job.ids[2]);
  job.drain(job.a(), 0);
  job.server.pass_alive(600s);
  EXPECT_EQ(job.server.last<Assignment>(job.a()).nodes.size(), 1u);
}

TEST(Failures, ASmallerWorldGoesOnAtOnceAndSurvivorsKeepTheirRank) {
  Two job(0, 1, 3, 3);
  job.server.reset(job.ids[2]);
  job.drain(job.a(), 0);
  job.drain(job.b(), 0);
  EXPECT_EQ(job.server.last<Assignment>(job.b()).nodes.size(), 2u);
  EXPECT_EQ(job.server.last<Assignment>(job.b()).restarts, 0);
  EXPECT_EQ(job.server.place(job.b()).node_rank, 1);
}

TEST(Failures, AWorkersFailureShortlyBeforeANodesLossIsChargedToTheLoss) {
  Two job(0, 1, 2);
  job.server.say(job.a(), job.failed(0, 1));
  job.server.pass(150ms);
  job.server.reset(job.b());
  EXPECT_EQ(job.server.last<Restart>(job.a()).cause.kind, Cause::Kind::node_lost);
  job.drain(job.a(), 0);
  EXPECT_EQ(job.server.last<Assignment>(job.a()).world_size, 2);
  EXPECT_EQ(job.server.last<Assignment>(job.a()).restarts, 0);
}

TEST(Failures, ALossWithinTheWindowGivesTheRestartBack) {
  Two job(1, 1, 2);
  job.server.say(job.a(), job.failed(0, 1));
  job.server.answer_pings();
  EXPECT_EQ(job.server.last<Restart>(job.a()).restarts, 1);
  job.server.pass(100ms);
  job.server.reset(job.b());
  EXPECT_EQ(job.server.last<Restart>(job.a()).restarts, 0);
  EXPECT_EQ(job.server.last<Restart>(job.a()).cause.node, "b");
  job.drain(job.a(), 0);
  EXPECT_EQ(job.server.last<Assignment>(job.a()).restarts, 0);
}

TEST(Failures, ALossAfterTheWindowDoesNot) {
  Two job(1, 1, 2);
  job.server.say(job.a(), job.failed(0, 1));
  job.server.pass(201ms);
  job.server.reset(job.b());
  job.drain(job.a(), 0);
  EXPECT_EQ(job.server.last<Assignment>(job.a()).restarts, 1);
}

TEST(Failures, TheLossOfTheNodeThatFailedExplainsNothing) {
  Two job(0);
  job.server.say(job.b(), job.failed(2, 9));
  job.server.reset(job.b());
  job.server.answer_pings();
  EXPECT_EQ(job.server.last<Abort>(job.a()).exit_code, 9);
}

TEST(Failures, WhoHasEndedWellAndGoesIsNotWaitedFor) {
  Two job(0, 3, 3, 3);
  job.server.say(job.ids[2], Finished{0});
  job.server.say(job.a(), job.failed(0, 3));
  job.server.answer_pings(job.b());
  EXPECT_FALSE(job.server.got<Abort>(job.b()));
  job.server.reset(job.ids[2]);
  EXPECT_EQ(job.server.last<Abort>(job.b()).exit_code, 3);
}

TEST(Failures, ASilentNodeIsLostAfterThreePings) {
  Two job(0);
  for (int i = 0; i < 3; ++i) {
    job.server.pass(5s);
    job.server.answer_pings(job.a());
  }
  EXPECT_FALSE(job.server.got<Abort>(job.a()));
  job.server.pass(5s);
  EXPECT_EQ(job.server.last<Abort>(job.a()).cause.text,
            "node b is lost: it did not answer 3 pings within 15 s");
  EXPECT_TRUE(job.server.closed.contains(job.b()));
}

TEST(Failures, AServerThatSleptBlamesNobody) {
  Two job(0);
  job.server.pass(14s);
  job.server.now += 100s;
  job.server.pass(1ns);
  EXPECT_FALSE(job.server.got<Abort>(job.a()));
  job.server.answer_pings();
  job.server.pass_alive(30s);
  EXPECT_FALSE(job.server.got<Abort>(job.a()));
}

TEST(Failures, UnevenEndsAreWaitedForAndThenAllEndWell) {
  Two job(0);
  job.server.say(job.a(), Finished{0});
  EXPECT_EQ(job.server.last<Waiting>(job.a()).text,
            "run r: all workers of this node have ended with 0; 1 node still at work: b");
  job.server.pass_alive(3600s);
  EXPECT_FALSE(job.server.got<Closed>(job.a()));
  job.server.say(job.b(), Finished{0});
  for (const MemberId id : job.ids) {
    EXPECT_TRUE(job.server.got<Closed>(id));
    EXPECT_TRUE(job.server.closed.contains(id));
  }
  EXPECT_EQ(job.server.runs->size(), 0u);
}

TEST(Failures, AFinishedNodeMayGoUnlessItHostsTheStore) {
  Two job(0);
  job.server.say(job.b(), Finished{0});
  job.server.reset(job.b());
  EXPECT_FALSE(job.server.got<Abort>(job.a()));
  job.server.say(job.a(), Finished{0});
  EXPECT_TRUE(job.server.got<Closed>(job.a()));

  Two other(0);
  other.server.say(other.a(), Finished{0});
  other.server.reset(other.a());
  EXPECT_EQ(other.server.last<Abort>(other.b()).exit_code, 125);
}

TEST(Failures, AnAgentThatLiesIsNamedAndLost) {
  Two job(0);
  job.server.say(job.b(), job.failed(0, 3));
  EXPECT_NE(job.server.last<Refused>(job.b()).why.find("it reported rank 0"), std::string::npos);
  EXPECT_NE(job.server.last<Abort>(job.a()).why.find("node b broke the roster protocol"),
            std::string::npos);

  Two other(0);
  other.server.say(other.b(), Drained{0, 5});
  EXPECT_TRUE(other.server.got<Refused>(other.b()));
}

}  // namespace
}  // namespace ddprun::roster
