// Rounds of a node, how the job ends for it, and what it tells the user.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/membership/member_fixture.h"

namespace ddprun::membership {
namespace {

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

TEST_F(MemberTest, WhatAllAreToldIsLeftToTheFirstNodeWhereThatIsSeen) {
  for (const bool embedded : {true, false}) {
    member_ = Member({.endpoint = "a:29400", .first_node_speaks = true});
    join(embedded);
    const std::size_t expected = embedded ? 0 : 1;
    EXPECT_EQ(all<Say>(member_.on_message(kStart + 2s, protocol::Waiting{.text = "1 of 2"})).size(),
              expected);
    EXPECT_EQ(all<Say>(member_.on_message(kStart, protocol::Notice{"other programs"})).size(),
              expected);
    begin(0);
    EXPECT_TRUE(all<Say>(restart(0)).empty());
  }
}

TEST_F(MemberTest, ALostNodeIsToldByAllForItMayBeTheFirst) {
  member_ = Member({.endpoint = "a:29400", .first_node_speaks = true});
  join(false);
  begin(0);
  const protocol::Cause lost{.kind = protocol::Cause::Kind::node_lost, .text = "a is lost"};
  EXPECT_EQ(all<Say>(member_.on_message(kStart,
                                        protocol::Restart{.round = 0, .cause = lost, .why = "why"}))
                .size(),
            1U);
}

}  // namespace
}  // namespace ddprun::membership
