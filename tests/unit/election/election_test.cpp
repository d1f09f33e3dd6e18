// Who is the head, and until when. Times and answers of etcd are arguments.
#include "rendezvous/election/election.h"

#include <gtest/gtest.h>

namespace ddprun::election {
namespace {

using namespace std::chrono_literals;

class ElectionTest : public testing::Test {
 protected:
  template <class T>
  const T* find(const Decision& decision) {
    for (const Order& order : decision.orders)
      if (const auto* found = std::get_if<T>(&order)) return found;
    return nullptr;
  }
  Decision did(Decision decision) {
    wake_at_ = decision.wake_at;
    return decision;
  }
  Holder me(LeaseId lease = 7) const {
    return {.server = "me", .address = "h1:1", .lease = lease, .revision = 40, .version = 1};
  }
  Holder other() const {
    return {.server = "other", .address = "h2:1", .lease = 9, .revision = 30, .version = 1};
  }
  // From the beginning to the office, with a lease of 5 s that was asked for at the time 0.
  void win() {
    did(election_.start(at(0ms)));
    did(election_.on_found(at(1ms), {}));
    did(election_.on_lease(at(2ms), at(0ms), 7, 5s));
    ASSERT_NE(find<TakeOffice>(did(election_.on_claimed(at(3ms), me()))), nullptr);
  }
  static Time at(nanoseconds since) { return Time() + since; }

  Election election_{{.server = "me", .address = "h1:1", .poll = 250ms}};
  std::optional<Time> wake_at_;
};

TEST_F(ElectionTest, WhoeverFindsNobodyAsksForALeaseAndClaims) {
  EXPECT_NE(find<Look>(election_.start(at(0s))), nullptr);
  EXPECT_NE(find<AskLease>(election_.on_found(at(0s), {})), nullptr);
  const Decision claim = election_.on_lease(at(0s), at(0s), 7, 5s);
  ASSERT_NE(find<Claim>(claim), nullptr);
  EXPECT_EQ(find<Claim>(claim)->lease, 7);
  EXPECT_FALSE(election_.leads(at(0s)));
  EXPECT_EQ(find<TakeOffice>(election_.on_claimed(at(0s), me()))->holder.revision, 40);
  EXPECT_TRUE(election_.leads(at(0s)));
}

TEST_F(ElectionTest, AnotherHeadIsFollowedAndLookedForAgain) {
  did(election_.start(at(0s)));
  const Decision follows = did(election_.on_found(at(0s), other()));
  EXPECT_EQ(find<Follow>(follows)->address, "h2:1");
  EXPECT_EQ(wake_at_, at(250ms));
  EXPECT_NE(find<Look>(did(election_.on_time(at(250ms)))), nullptr);
  EXPECT_EQ(find<Follow>(did(election_.on_found(at(251ms), other()))), nullptr) << "no news";
  did(election_.on_time(at(600ms)));
  EXPECT_NE(find<AskLease>(did(election_.on_found(at(601ms), {}))), nullptr) << "it is gone";
}

TEST_F(ElectionTest, WhatThisOneLeftInAnEarlierLifeIsNobody) {
  did(election_.start(at(0s)));
  Holder old = other();
  old.address = "h1:1";
  const Decision decision = did(election_.on_found(at(0s), old));
  ASSERT_NE(find<Follow>(decision), nullptr);
  EXPECT_FALSE(find<Follow>(decision)->address) << "agents would be sent here again and again";
}

TEST_F(ElectionTest, WhoeverHasItsAddressForLongerThanAnyLeaseIsAnotherOne) {
  did(election_.start(at(0s)));
  Holder namesake = other();
  namesake.address = "h1:1";
  did(election_.on_found(at(0s), namesake));
  did(election_.on_time(at(75s)));
  const Decision decision = did(election_.on_found(at(75s), namesake));
  ASSERT_NE(find<Follow>(decision), nullptr);
  EXPECT_FALSE(find<Follow>(decision)->address);
  EXPECT_NE(find<Follow>(decision)->why.find("another rdzvd that advertises h1:1 as well"),
            std::string::npos);
}

TEST_F(ElectionTest, AKeyThatNobodyEndsIsNamed) {
  did(election_.start(at(0s)));
  Holder forever = other();
  forever.lease = 0;
  EXPECT_NE(find<Follow>(did(election_.on_found(at(0s), forever)))->why.find("has no lease"),
            std::string::npos);
  const Decision garbage = did(election_.on_found(at(1s), Holder{.lease = 9, .revision = 31}));
  EXPECT_NE(find<Follow>(garbage)->why.find("not written by an rdzvd"), std::string::npos);
  EXPECT_NE(find<Follow>(garbage)->why.find("etcdctl del head"), std::string::npos);
}

TEST_F(ElectionTest, WhoeverClaimsTooLateFollows) {
  did(election_.start(at(0s)));
  did(election_.on_found(at(0s), {}));
  did(election_.on_lease(at(0s), at(0s), 7, 5s));
  const Decision lost = did(election_.on_claimed(at(0s), other()));
  EXPECT_EQ(find<TakeOffice>(lost), nullptr);
  EXPECT_EQ(find<Revoke>(lost)->lease, 7);
  EXPECT_EQ(find<Follow>(lost)->address, "h2:1");
  EXPECT_FALSE(election_.leads(at(1s)));
}

// What is found there is this one's key, of an earlier claim whose lease was given up.
TEST_F(ElectionTest, AClaimOfAnEarlierLeaseIsNotTaken) {
  did(election_.start(at(0s)));
  did(election_.on_found(at(0s), {}));
  did(election_.on_lease(at(0s), at(0s), 7, 5s));
  EXPECT_EQ(find<TakeOffice>(did(election_.on_claimed(at(0s), me(6)))), nullptr);
  EXPECT_FALSE(election_.leads(at(0s)));
}

TEST_F(ElectionTest, AClaimIsNotTakenWhenItsLeaseMayBeOver) {
  did(election_.start(at(0s)));
  did(election_.on_found(at(0s), {}));
  did(election_.on_lease(at(1s), at(0s), 7, 5s));
  EXPECT_EQ(find<TakeOffice>(did(election_.on_claimed(at(4600ms), me()))), nullptr);
  EXPECT_FALSE(election_.leads(at(4600ms)));
}

TEST_F(ElectionTest, TheHeadRenewsThreeTimesInTheLifeOfItsLease) {
  win();
  EXPECT_EQ(wake_at_, at(nanoseconds(5s) / 3));
  EXPECT_EQ(find<KeepAlive>(did(election_.on_time(at(1600ms)))), nullptr);
  EXPECT_EQ(find<KeepAlive>(did(election_.on_time(at(1700ms))))->lease, 7);
  did(election_.on_kept(at(1750ms), at(1700ms), 5s));
  EXPECT_TRUE(election_.leads(at(6s))) << "it counts from when it was asked";
  EXPECT_FALSE(election_.leads(at(6300ms)));
  did(election_.on_found(at(1760ms), me()));
  EXPECT_EQ(wake_at_, at(1700ms + nanoseconds(5s) / 3)) << "and so on";
}

// Somebody has deleted all keys, for example; the lease lives on.
TEST_F(ElectionTest, AHeadWhoseKeyIsNotItsOwnAnyMoreLeaves) {
  win();
  did(election_.on_time(at(1700ms)));
  EXPECT_NE(find<Look>(did(election_.on_kept(at(1750ms), at(1700ms), 5s))), nullptr);
  const Decision left = did(election_.on_found(at(1760ms), other()));
  EXPECT_EQ(find<LeaveOffice>(left)->why, "another rdzvd has become the head");
  EXPECT_EQ(find<Revoke>(left)->lease, 7);
  EXPECT_FALSE(election_.leads(at(1760ms)));
}

TEST_F(ElectionTest, AHeadWhoseKeyIsGoneLeaves) {
  win();
  did(election_.on_time(at(1700ms)));
  did(election_.on_kept(at(1750ms), at(1700ms), 5s));
  EXPECT_EQ(find<LeaveOffice>(did(election_.on_found(at(1760ms), {})))->why,
            "its key head is gone from etcd");
}

TEST_F(ElectionTest, ALookAtItsKeyWithoutAnAnswerIsNoReasonToLeave) {
  win();
  did(election_.on_time(at(1700ms)));
  did(election_.on_kept(at(1750ms), at(1700ms), 5s));
  did(election_.on_unanswered(at(2s), "no answer in time"));
  EXPECT_TRUE(election_.leads(at(6s)));
  EXPECT_NE(find<KeepAlive>(did(election_.on_time(at(2250ms)))), nullptr);
}

TEST_F(ElectionTest, ItLeavesBeforeTheLeaseCanBeOver) {
  win();
  did(election_.on_time(at(1700ms)));
  did(election_.on_unanswered(at(2s), "no answer in time"));
  EXPECT_TRUE(election_.leads(at(4400ms)));
  EXPECT_FALSE(election_.leads(at(4500ms))) << "a tenth before its end, by its own clock";
  did(election_.on_time(at(2300ms)));
  EXPECT_EQ(wake_at_, at(4500ms)) << "though the question is still underway";
  const Decision left = did(election_.on_time(at(4500ms)));
  EXPECT_EQ(find<LeaveOffice>(left)->why,
            "its lease of 5 s could not be renewed: no answer in time");
  EXPECT_EQ(find<Revoke>(left)->lease, 7);
  EXPECT_NE(find<Look>(left), nullptr);
  EXPECT_FALSE(election_.leads(at(4600ms)));
}

// It was stopped for a while (SIGSTOP), and goes on as if no time had passed.
TEST_F(ElectionTest, ALateRenewalDoesNotBringTheOfficeBack) {
  win();
  did(election_.on_time(at(1700ms)));
  const Decision late = did(election_.on_kept(at(9s), at(1700ms), 5s));
  EXPECT_NE(find<LeaveOffice>(late), nullptr);
  EXPECT_FALSE(election_.leads(at(9s)));
}

TEST_F(ElectionTest, ALeaseThatEtcdDoesNotKnowIsOver) {
  win();
  did(election_.on_time(at(1700ms)));
  EXPECT_NE(find<LeaveOffice>(did(election_.on_kept(at(1800ms), at(1700ms), 0s))), nullptr);
  EXPECT_FALSE(election_.leads(at(1800ms)));
}

TEST_F(ElectionTest, AFencedWriteEndsTheOffice) {
  win();
  EXPECT_EQ(find<LeaveOffice>(did(election_.on_fenced(at(1s), other())))->why,
            "another rdzvd has become the head");
  EXPECT_FALSE(election_.leads(at(1s)));
  EXPECT_EQ(find<LeaveOffice>(did(election_.on_fenced(at(1s), other()))), nullptr);
}

// A full etcd, for example: it renews leases still.
TEST_F(ElectionTest, AHeadThatCannotWriteLeaves) {
  win();
  const Decision left = did(election_.on_unwritten(at(1s), "no space"));
  EXPECT_EQ(find<LeaveOffice>(left)->why, "etcd takes no writes: no space");
  EXPECT_EQ(find<Revoke>(left)->lease, 7);
  EXPECT_FALSE(election_.leads(at(1s)));
}

// It was written by hand, or by a program that has the same prefix.
TEST_F(ElectionTest, SoDoesAFencedWriteThatFindsItsOwnKey) {
  win();
  EXPECT_NE(find<LeaveOffice>(did(election_.on_fenced(at(1s), me()))), nullptr);
  EXPECT_FALSE(election_.leads(at(1s)));
}

TEST_F(ElectionTest, ItTriesAgainAndAgainWhileEtcdIsAway) {
  did(election_.start(at(0s)));
  const Decision none = did(election_.on_unanswered(at(1s), "refused"));
  EXPECT_FALSE(find<Follow>(none)->address);
  EXPECT_EQ(wake_at_, at(1250ms));
  EXPECT_NE(find<Look>(did(election_.on_time(at(1250ms)))), nullptr);
  EXPECT_NE(find<AskLease>(did(election_.on_found(at(2s), {}))), nullptr);
}

TEST_F(ElectionTest, AClaimWithoutAnAnswerIsTakenBack) {
  did(election_.start(at(0s)));
  did(election_.on_found(at(0s), {}));
  did(election_.on_lease(at(0s), at(0s), 7, 5s));
  EXPECT_EQ(find<Revoke>(did(election_.on_unanswered(at(1s), "late")))->lease, 7);
}

TEST_F(ElectionTest, WhoResignsLetsTheLeaseGoAndAsksForNothingMore) {
  win();
  const Decision end = did(election_.resign(at(1s)));
  EXPECT_EQ(find<Revoke>(end)->lease, 7);
  EXPECT_FALSE(election_.leads(at(1s)));
  EXPECT_TRUE(did(election_.on_time(at(9s))).orders.empty());
  EXPECT_FALSE(wake_at_);
}

TEST_F(ElectionTest, SoDoesWhoResignsWhileItClaims) {
  did(election_.start(at(0s)));
  did(election_.on_found(at(0s), {}));
  did(election_.on_lease(at(0s), at(0s), 7, 5s));
  const Decision end = did(election_.resign(at(0s)));
  EXPECT_EQ(find<LeaveOffice>(end), nullptr);
  ASSERT_NE(find<Revoke>(end), nullptr);
  EXPECT_EQ(find<Revoke>(end)->lease, 7);
}

}  // namespace
}  // namespace ddprun::election
