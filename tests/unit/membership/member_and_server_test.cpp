// A node whose server is lost, found again, or never there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/membership/member_fixture.h"

namespace ddprun::membership {
namespace {

using testing::HasSubstr;

TEST_F(MemberTest, ALostEmbeddedServerEndsTheJob) {
  join(true);
  begin(0);
  EXPECT_EQ(all<StopRound>(member_.on_lost(kStart, "its connection was reset")).size(), 1U);
  const Verdict verdict = only<End>(member_.on_round_ended(kStart, false)).verdict;
  EXPECT_EQ(verdict.kind, Kind::lost);
  EXPECT_EQ(verdict.exit_code, 125);
  EXPECT_EQ(verdict.text, "node a, which hosts the rendezvous, is lost: its connection was reset");
}

TEST_F(MemberTest, AServerThatSaysWhyItEndsIsQuoted) {
  join(true);
  begin(0);
  member_.on_message(kStart, protocol::ServerStopping{"stopped by SIGINT"});
  member_.on_lost(kStart, "its connection was closed");
  const Verdict verdict = only<End>(member_.on_round_ended(kStart, false)).verdict;
  EXPECT_THAT(verdict.text, HasSubstr("stopped by SIGINT"));
  EXPECT_TRUE(verdict.host_stopped);
}

TEST_F(MemberTest, ALostDaemonLeavesTheWorkersAloneAndIsLookedFor) {
  join(false);
  begin(0);
  const Orders lost = member_.on_lost(kStart, "its connection was reset");
  EXPECT_TRUE(all<StopRound>(lost).empty());
  EXPECT_EQ(only<Connect>(lost).patience, 5s);
  const SayJoin back = only<SayJoin>(member_.on_connected(kStart));
  ASSERT_TRUE(back.held);
  EXPECT_EQ(back.held->member, 8U);
  EXPECT_EQ(back.held->server, "s1");
  EXPECT_FALSE(back.held->finished);
  EXPECT_TRUE(all<End>(welcome(false, 12)).empty());
  EXPECT_EQ(sent<protocol::Finished>(member_.on_round_ended(kStart, true)).size(), 1U);
}

// Also without a place in the round, which it lost when it began to stop its workers.
TEST_F(MemberTest, WhoComesBackSaysHowManyRestartsAreSpent) {
  join(false);
  begin(0);
  member_.on_message(kStart, protocol::Restart{.round = 0, .restarts = 1, .max_restarts = 3});
  member_.on_lost(kStart, "reset");
  const auto back = only<SayJoin>(member_.on_connected(kStart));
  EXPECT_FALSE(back.held);
  EXPECT_EQ(back.former->round, 0);
  EXPECT_EQ(back.former->restarts, 1);
}

// So that nobody takes it for a node of another job that was started under the same run id.
TEST_F(MemberTest, WhoComesBackSaysWhichRunItWasANodeOf) {
  member_.start(kStart);
  EXPECT_FALSE(only<SayJoin>(member_.on_connected(kStart)).former);
  welcome(false, 8);
  member_.on_lost(kStart, "reset");
  const auto waited = only<SayJoin>(member_.on_connected(kStart)).former;
  ASSERT_TRUE(waited) << "also without a round";
  EXPECT_EQ(waited->server, "s1");
  EXPECT_EQ(waited->run_directory, "run_1");
  welcome(false, 8);
  begin(0);
  for (const char* server : {"s2", "s3"}) {
    member_.on_lost(kStart, "reset");
    member_.on_connected(kStart);
    member_.on_message(kStart,
                       protocol::Welcome{.member = 9, .server = server, .run_directory = "new"});
  }
  member_.on_lost(kStart, "reset");
  const auto back = only<SayJoin>(member_.on_connected(kStart));
  EXPECT_EQ(back.held->server, "s1") << "whoever began the round";
  EXPECT_EQ(back.former->server, "s3") << "whoever was the last to know it";
  EXPECT_EQ(back.former->run_directory, "run_1");
  EXPECT_EQ(back.former->round, 0);
  EXPECT_EQ(back.former->restarts, 0);
}

TEST_F(MemberTest, BeforeTheFirstRoundTheRunMayTurnOutToBeAnotherOne) {
  join(false);
  const Orders told = member_.on_message(
      kStart, protocol::Welcome{.member = 8, .server = "s1", .run_directory = "run_2"});
  EXPECT_TRUE(all<Say>(told).empty()) << "it was not away";
  EXPECT_EQ(member_.run_directory(), "run_2");
}

TEST_F(MemberTest, AFailureWhileTheDaemonIsAwayIsSaidWhenItIsBack) {
  join(false);
  begin(0);
  member_.on_lost(kStart, "reset");
  EXPECT_TRUE(
      sent<protocol::Failed>(member_.on_worker_failed(kStart, {.rank = 2, .code = 1})).empty());
  member_.on_round_ended(kStart, false);
  ASSERT_TRUE(only<SayJoin>(member_.on_connected(kStart)).held);
  EXPECT_EQ(sent<protocol::Failed>(welcome(false, 12)).size(), 1U);
  EXPECT_EQ(all<SayDrained>(restart(0)).size(), 1U);
}

TEST_F(MemberTest, WorkersThatEndWhileItJoinsAgainAreFinished) {
  join(false);
  begin(0);
  member_.on_lost(kStart, "reset");
  EXPECT_FALSE(only<SayJoin>(member_.on_connected(kStart)).held->finished);
  member_.on_round_ended(kStart, true);
  EXPECT_EQ(sent<protocol::Finished>(welcome(false, 12)).size(), 1U);
}

TEST_F(MemberTest, ADaemonThatIsNewIsToldWhichWorkersRun) {
  join(false);
  begin(0);
  const protocol::Started started{.round = 0, .workers = {{.pid = 77, .device = "CPU"}}};
  EXPECT_EQ(sent<protocol::Started>(member_.on_started(kStart, started)).size(), 1U);
  member_.on_lost(kStart, "reset");
  member_.on_connected(kStart);
  const auto told = sent<protocol::Started>(welcome(false, 12));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told.front().workers.front().pid, 77);
}

TEST_F(MemberTest, WorkersThatStartWhileItJoinsAgainAreTold) {
  join(false);
  begin(0);
  member_.on_lost(kStart, "reset");
  member_.on_connected(kStart);
  EXPECT_TRUE(sent<protocol::Started>(member_.on_started(kStart, {.round = 0})).empty());
  EXPECT_EQ(sent<protocol::Started>(welcome(false, 12)).size(), 1U);
}

TEST_F(MemberTest, AFailureIsSaidAgainUntilTheServerHasDecidedAndGrowsOlder) {
  join(false);
  begin(0);
  EXPECT_EQ(
      sent<protocol::Failed>(member_.on_worker_failed(kStart, {.rank = 2, .code = 1, .age = 100ms}))
          .front()
          .age,
      100ms);
  member_.on_message(kStart, protocol::Stop{0, "rank 2 failed"});
  // The workers are still stopping, and the others have to hear of it all the same.
  EXPECT_EQ(all<Connect>(member_.on_lost(kStart + 1s, "reset")).size(), 1U);
  ASSERT_TRUE(only<SayJoin>(member_.on_connected(kStart + 2s)).held);
  const auto again = sent<protocol::Failed>(
      member_.on_message(kStart + 3s, protocol::Welcome{.member = 12, .server = "s2"}));
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again.front().age, 3100ms);
  restart(0);
  member_.on_round_ended(kStart + 4s, false);
  member_.on_lost(kStart + 5s, "reset");
  EXPECT_FALSE(only<SayJoin>(member_.on_connected(kStart + 5s)).held);
  EXPECT_TRUE(sent<protocol::Failed>(welcome(false, 13)).empty());
}

TEST_F(MemberTest, ADaemonThatIsLostDuringThePauseIsNoReasonToDrain) {
  join(false);
  for (const int round : {0, 1}) {
    begin(round, round);
    member_.on_worker_failed(kStart, {.round = round, .rank = 2, .code = 1});
    member_.on_round_ended(kStart, false);
    if (round == 0) restart(0);
  }
  ASSERT_THAT(restart(1).wake_at, testing::Optional(kStart + 1s));
  const Orders lost = member_.on_lost(kStart + 500ms, "reset");
  EXPECT_FALSE(lost.wake_at);
  EXPECT_FALSE(only<SayJoin>(member_.on_connected(kStart + 500ms)).held);
  EXPECT_TRUE(all<SayDrained>(welcome(false, 12)).empty());
  EXPECT_TRUE(member_.on_time(kStart + 2s).list.empty());
}

TEST_F(MemberTest, ANewcomerAnnouncesAStoreThatNoRoundHasUsed) {
  member_.start(kStart);
  EXPECT_FALSE(only<SayJoin>(member_.on_connected(kStart)).fresh_store);
  welcome(false, 8);
  begin(0);
  member_.on_message(kStart, protocol::Stop{0, "why"});
  member_.on_lost(kStart, "reset");
  member_.on_round_ended(kStart, false);
  EXPECT_TRUE(only<SayJoin>(member_.on_connected(kStart)).fresh_store);
  // The connection was lost before there was an answer: nobody has used it.
  EXPECT_FALSE(only<SayJoin>(member_.on_connected(kStart)).fresh_store);
}

TEST_F(MemberTest, ADaemonThatTakesItAndLosesItAtOnceIsNotAskedWithoutAPauseOrForEver) {
  join(false);
  begin(0);
  EXPECT_EQ(only<Connect>(member_.on_lost(kStart + 10s, "reset")).pause, 0s);
  Time now = kStart + 10s;
  int tries = 0;
  for (; tries < 100; ++tries) {
    member_.on_connected(now);
    member_.on_message(now, protocol::Welcome{.member = 12, .server = "s2"});
    const Orders lost = member_.on_lost(now, "closed");
    if (all<Connect>(lost).empty()) break;
    EXPECT_GE(only<Connect>(lost).pause, 100ms);
    now += only<Connect>(lost).pause;
  }
  EXPECT_LT(tries, 50);
  EXPECT_THAT(only<End>(member_.on_round_ended(now, false)).verdict.text,
              HasSubstr("again and again: closed"));
}

TEST_F(MemberTest, AMembershipThatLastedGivesTheNextSearchItsWholeTime) {
  join(false);
  begin(0);
  member_.on_lost(kStart + 10s, "reset");
  member_.on_connected(kStart + 11s);
  member_.on_message(kStart + 11s, protocol::Welcome{.member = 12, .server = "s2"});
  EXPECT_EQ(only<Connect>(member_.on_lost(kStart + 60s, "reset")).patience, 5s);
}

TEST_F(MemberTest, AFirstServerThatIsLostIsLookedForAsLongAsJoiningMayTake) {
  member_.start(kStart);
  member_.on_connected(kStart);
  const Connect again = only<Connect>(member_.on_lost(kStart + 100s, "reset"));
  EXPECT_EQ(again.patience, 500s);
  EXPECT_GT(again.pause, 0s);
  EXPECT_THAT(only<End>(member_.on_lost(kStart + 600s, "closed")).verdict.text,
              HasSubstr("could not join at a:29400 within 600 s: closed"));
}

TEST_F(MemberTest, ADaemonThatStaysAwayEndsTheJob) {
  join(false);
  begin(0);
  member_.on_lost(kStart, "reset");
  EXPECT_EQ(all<StopRound>(member_.on_gave_up(kStart, "a:29400 is gone")).size(), 1U);
  const Verdict verdict = only<End>(member_.on_round_ended(kStart, false)).verdict;
  EXPECT_EQ(verdict.exit_code, 125);
  EXPECT_THAT(verdict.text, HasSubstr("a:29400 is gone"));
}

TEST_F(MemberTest, WhoWasStoppingJoinsAsANewcomer) {
  join(false);
  begin(0);
  member_.on_message(kStart, protocol::Stop{0, "why"});
  EXPECT_TRUE(all<Connect>(member_.on_lost(kStart, "reset")).empty());
  EXPECT_EQ(all<Connect>(member_.on_round_ended(kStart, false)).size(), 1U);
  EXPECT_FALSE(only<SayJoin>(member_.on_connected(kStart)).held);
  welcome(false, 12);
  protocol::Assignment next = assignment(1);
  next.nodes[1].member = 12;
  EXPECT_EQ(only<BeginRound>(member_.on_message(kStart, next)).place.node_rank, 1);
}

TEST_F(MemberTest, AServerThatCannotBeReachedIsToldAfterASecondAndThenEveryTen) {
  member_.start(kStart);
  const Orders first = member_.on_unreachable(kStart, "connection refused");
  EXPECT_TRUE(all<Say>(first).empty());
  EXPECT_THAT(first.wake_at, testing::Optional(kStart + 1s));
  EXPECT_THAT(only<Say>(member_.on_time(kStart + 1s)).text,
              HasSubstr("waiting for the rendezvous at a:29400: connection refused"));
  EXPECT_TRUE(all<Say>(member_.on_time(kStart + 10s)).empty());
  EXPECT_EQ(all<Say>(member_.on_time(kStart + 11s)).size(), 1U);
}

}  // namespace
}  // namespace ddprun::membership
