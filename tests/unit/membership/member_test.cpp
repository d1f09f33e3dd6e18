#include "launcher/membership/member.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace ddprun::membership {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Kind = Verdict::Kind;

const Time kStart{std::chrono::hours(1)};

template <class T>
std::vector<T> all(const Orders& orders) {
  std::vector<T> found;
  for (const Order& order : orders.list)
    if (const auto* each = std::get_if<T>(&order)) found.push_back(*each);
  return found;
}

template <class T>
T only(const Orders& orders) {
  const auto found = all<T>(orders);
  EXPECT_EQ(found.size(), 1U);
  return found.empty() ? T{} : found.front();
}

// The messages of one type that are to be sent.
template <class M>
std::vector<M> sent(const Orders& orders) {
  std::vector<M> found;
  for (const Send& send : all<Send>(orders))
    if (const auto* each = std::get_if<M>(&send.message)) found.push_back(*each);
  return found;
}

protocol::Assignment assignment(int round, int restarts = 0) {
  return {.round = round,
          .restarts = restarts,
          .world_size = 3,
          .nodes = {{.member = 7, .node = "a", .nproc = 2}, {.member = 8, .node = "b", .nproc = 1}},
          .store_host = "10.0.0.1",
          .store_port = 4000};
}

protocol::Cause failure(int rank, int code) {
  return {.kind = protocol::Cause::Kind::worker_failed,
          .text = "rank failed",
          .node = "a",
          .rank = rank,
          .local_rank = 0,
          .code = code};
}

// Node b of two.
class MemberTest : public testing::Test {
 protected:
  void join(bool embedded) {
    member_.start(kStart);
    member_.on_connected(kStart);
    welcome(embedded, 8);
  }
  Orders welcome(bool embedded, protocol::MemberId id) {
    return member_.on_message(kStart, protocol::Welcome{.member = id,
                                                        .server = "s1",
                                                        .embedded = embedded,
                                                        .server_host = "a",
                                                        .run_directory = "run_1"});
  }
  Orders begin(int round, int restarts = 0) {
    return member_.on_message(kStart, assignment(round, restarts));
  }
  Orders restart(int round, Time now = kStart) {
    return member_.on_message(
        now, protocol::Restart{.round = round, .cause = failure(0, 3), .why = "restart follows"});
  }

  Member member_{{.endpoint = "a:29400",
                  .join_timeout = 600s,
                  .reconnect_timeout = 5s,
                  .restart_backoff = 1s}};
};

// Heads of several rdzvds may be lost one soon after the other; each is another server.
TEST(MemberOfSeveral, AHeadThatIsLostSoonIsNotTheSameOneAgain) {
  for (const bool several : {true, false}) {
    Member member({.endpoint = "a:1,b:1",
                   .join_timeout = 600s,
                   .reconnect_timeout = 5s,
                   .several_servers = several});
    member.start(kStart);
    Time now = kStart;
    Orders lost;
    for (const char* server : {"s1", "s2", "s3"}) {
      member.on_connected(now);
      member.on_message(now,
                        protocol::Welcome{.member = 1, .server = server, .run_directory = "r"});
      now += 4s;  // to find it, of which the membership lasted nothing
      lost = member.on_lost(now - 3900ms, "it was reset");
    }
    EXPECT_EQ(all<End>(lost).empty(), several);
  }
}

TEST_F(MemberTest, JoinsAndBeginsItsRound) {
  EXPECT_EQ(only<Connect>(member_.start(kStart)).patience, 600s);
  EXPECT_FALSE(only<SayJoin>(member_.on_connected(kStart)).held);
  EXPECT_TRUE(welcome(true, 8).list.empty());
  EXPECT_EQ(member_.run_directory(), "run_1");
  const BeginRound round = only<BeginRound>(begin(0));
  EXPECT_EQ(round.place.node_rank, 1);
  EXPECT_EQ(round.place.first_rank, 2);
  EXPECT_EQ(round.place.world_size, 3);
}

TEST_F(MemberTest, ANodeThatHasFinishedStaysUntilTheJobIsClosed) {
  join(true);
  begin(0);
  const Orders ended = member_.on_round_ended(kStart, true);
  EXPECT_EQ(sent<protocol::Finished>(ended).size(), 1U);
  EXPECT_TRUE(all<End>(ended).empty());
  const Verdict verdict =
      only<End>(member_.on_message(kStart, protocol::Closed{"all have ended"})).verdict;
  EXPECT_EQ(verdict.kind, Kind::success);
  EXPECT_EQ(verdict.exit_code, 0);
}

TEST_F(MemberTest, AFailureElsewhereStopsTheWorkersAndEndsWithItsCode) {
  join(true);
  begin(0);
  EXPECT_EQ(only<StopRound>(member_.on_message(kStart, protocol::Stop{0, "rank 0 failed"})).why,
            "rank 0 failed");
  const Orders told = member_.on_message(
      kStart, protocol::Abort{.round = 0, .cause = failure(0, 3), .exit_code = 3, .why = "why"});
  EXPECT_TRUE(all<StopRound>(told).empty());
  EXPECT_TRUE(all<End>(told).empty());
  const Verdict verdict = only<End>(member_.on_round_ended(kStart, false)).verdict;
  EXPECT_EQ(verdict.kind, Kind::cause);
  EXPECT_EQ(verdict.exit_code, 3);
  EXPECT_EQ(verdict.cause->rank, 0);
}

TEST_F(MemberTest, AFailureHereIsSaidAtOnceAndDrainedWhenARestartFollows) {
  join(true);
  begin(0);
  EXPECT_EQ(sent<protocol::Failed>(member_.on_worker_failed(kStart, {.rank = 2, .code = 1})).size(),
            1U);
  EXPECT_TRUE(member_.on_message(kStart, protocol::Stop{0, "why"}).list.empty());
  EXPECT_TRUE(all<SayDrained>(member_.on_round_ended(kStart, false)).empty());
  const Orders told = restart(0);
  EXPECT_EQ(only<SayDrained>(told).round, 0);
  EXPECT_EQ(only<Say>(told).text, "restart follows");
  EXPECT_EQ(only<BeginRound>(begin(1, 1)).assignment.restarts, 1);
}

TEST_F(MemberTest, ANodeThatHasFinishedTakesPartInARestart) {
  join(true);
  begin(0);
  member_.on_round_ended(kStart, true);
  EXPECT_TRUE(member_.on_message(kStart, protocol::Stop{0, "why"}).list.empty());
  EXPECT_EQ(only<SayDrained>(restart(0)).round, 0);
}

TEST_F(MemberTest, RoundsThatFailAtOnceAreGivenTime) {
  join(true);
  begin(0);
  member_.on_worker_failed(kStart, {.rank = 2, .code = 1});
  member_.on_round_ended(kStart, false);
  EXPECT_EQ(all<SayDrained>(restart(0)).size(), 1U);
  begin(1, 1);
  member_.on_worker_failed(kStart, {.rank = 2, .code = 1});
  member_.on_round_ended(kStart, false);
  const Orders told = restart(1);
  EXPECT_TRUE(all<SayDrained>(told).empty());
  EXPECT_THAT(told.wake_at, testing::Optional(kStart + 1s));
  EXPECT_TRUE(all<SayDrained>(member_.on_time(kStart + 999ms)).empty());
  EXPECT_EQ(all<SayDrained>(member_.on_time(kStart + 1s)).size(), 1U);
}

TEST_F(MemberTest, ARoundThatAWorkerHasEndedIsNotedOnceAndOthersAreNot) {
  join(true);
  begin(0);
  const NoteAttempt noted = only<NoteAttempt>(restart(0, kStart + 3s));
  EXPECT_EQ(noted.round, 0);
  EXPECT_EQ(noted.ran, 3s);
  EXPECT_EQ(noted.cause.rank, 0);
  EXPECT_TRUE(all<NoteAttempt>(restart(0)).empty());
  member_.on_round_ended(kStart, false);
  begin(1);
  EXPECT_TRUE(
      all<NoteAttempt>(
          member_.on_message(
              kStart,
              protocol::Restart{.round = 1, .cause = {.kind = protocol::Cause::Kind::node_lost}}))
          .empty());
}

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

TEST_F(MemberTest, GoodbyeIsSaidWhileItJoinsAndWhenItCannotGoOn) {
  member_.start(kStart);
  member_.on_connected(kStart);
  EXPECT_EQ(sent<protocol::Leave>(member_.on_leaving(kStart, "stopped by SIGINT")).size(), 1U);

  Member unable{{.endpoint = "a:29400"}};
  unable.start(kStart);
  unable.on_connected(kStart);
  const Orders orders = unable.on_unable(kStart, "cannot host the store: no port");
  EXPECT_EQ(sent<protocol::Leave>(orders).front().why, "cannot host the store: no port");
  EXPECT_EQ(only<End>(orders).verdict.exit_code, 125);
}

TEST_F(MemberTest, ATimeLimitOfTheJobIsSaidWithItsExitCode) {
  join(true);
  begin(0);
  const auto leave =
      sent<protocol::Leave>(member_.on_leaving(kStart, "stopped after 5 s (--timeout)", 124));
  ASSERT_EQ(leave.size(), 1U);
  EXPECT_EQ(leave.front().exit_code, 124);
}

TEST_F(MemberTest, ARoundThatItCannotTakePartInIsLeft) {
  join(true);
  protocol::Assignment without = assignment(0);
  without.nodes[1].member = 99;
  const Orders orders = member_.on_message(kStart, without);
  EXPECT_EQ(sent<protocol::Leave>(orders).size(), 1U);
  EXPECT_EQ(all<End>(orders).size(), 1U);
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

TEST_F(MemberTest, LeavingIsSaidAtOnceAndEndsWithTheWorkers) {
  join(true);
  begin(0);
  const Orders leaving = member_.on_leaving(kStart, "stopped by SIGINT");
  EXPECT_EQ(sent<protocol::Leave>(leaving).front().why, "stopped by SIGINT");
  EXPECT_TRUE(all<End>(leaving).empty());
  EXPECT_TRUE(all<End>(member_.on_lost(kStart, "closed")).empty());
  EXPECT_EQ(only<End>(member_.on_round_ended(kStart, false)).verdict.kind, Kind::local);
}

TEST_F(MemberTest, WhoWaitsLeavesAtOnce) {
  member_.start(kStart);
  const Verdict verdict = only<End>(member_.on_leaving(kStart, "stopped by SIGINT")).verdict;
  EXPECT_EQ(verdict.kind, Kind::local);
}

TEST_F(MemberTest, ARefusalEndsWithItsReason) {
  member_.start(kStart);
  member_.on_connected(kStart);
  const Verdict verdict =
      only<End>(member_.on_message(kStart, protocol::Refused{"node rank 1 is taken"})).verdict;
  EXPECT_EQ(verdict.kind, Kind::lost);
  EXPECT_EQ(verdict.exit_code, 125);
  EXPECT_EQ(verdict.text, "node rank 1 is taken");
}

TEST_F(MemberTest, WhereTheOthersAreExpectedIsTold) {
  join(true);
  member_.on_message(kStart, protocol::Waiting{.text = "1 of 2 are here", .here = 1, .needed = 2});
  EXPECT_EQ(only<Say>(member_.on_time(kStart + 1s)).text,
            "1 of 2 are here; they are to come to a:29400");
}

TEST_F(MemberTest, ASpareSaysItsLineOnce) {
  join(true);
  const protocol::Waiting spare{.text = "this node is a spare", .spare = true};
  EXPECT_EQ(all<Say>(member_.on_message(kStart + 2s, spare)).size(), 1u);
  EXPECT_TRUE(all<Say>(member_.on_message(kStart + 9s, spare)).empty());
  protocol::Waiting other = spare;
  other.text = "round 1 runs; this node is a spare";
  EXPECT_EQ(all<Say>(member_.on_message(kStart + 10s, other)).size(), 1u);
}

TEST_F(MemberTest, WaitingIsToldAfterASecondUnlessItIsOver) {
  join(true);
  const Orders told = member_.on_message(kStart, protocol::Waiting{.text = "1 of 2 are here"});
  EXPECT_TRUE(all<Say>(told).empty());
  EXPECT_THAT(told.wake_at, testing::Optional(kStart + 1s));
  EXPECT_EQ(only<Say>(member_.on_time(kStart + 1s)).text, "1 of 2 are here");
  EXPECT_EQ(only<Say>(member_.on_message(kStart + 11s, protocol::Waiting{.text = "again"})).text,
            "again");
}

TEST_F(MemberTest, WhatTheServerTellsAllIsLeftToItsHostWhereThatIsSeen) {
  for (const bool embedded : {true, false}) {
    member_ = Member({.endpoint = "a:29400", .host_speaks = true});
    join(embedded);
    const std::size_t expected = embedded ? 0 : 1;
    EXPECT_EQ(all<Say>(member_.on_message(kStart + 2s, protocol::Waiting{.text = "1 of 2"})).size(),
              expected);
    EXPECT_EQ(all<Say>(member_.on_message(kStart, protocol::Notice{"other programs"})).size(),
              expected);
    begin(0);
    EXPECT_EQ(only<Say>(restart(0)).text, "restart follows") << "a failure is told by all";
  }
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
