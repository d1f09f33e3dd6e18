// A run that ends while some of its nodes are away, because its daemon was killed.
#include "tests/unit/roster/resumed.h"

namespace ddprun::roster {
namespace {

TEST(LastWord, ACancellationIsToldToWhoeverComesBackLater) {
  Resumed job;
  const MemberId b = job.server.connect(job.joins[1]);
  job.server.connect(AskCancel{.run = "r", .by = "me"});
  EXPECT_EQ(job.server.last<Abort>(b).exit_code, 143);
  job.server.pass(3s);
  const MemberId a = job.server.connect(job.joins[0]);
  EXPECT_EQ(job.server.last<Abort>(a).exit_code, 143);
  EXPECT_EQ(job.server.last<Abort>(a).cause.text, "run r was cancelled by me");
  EXPECT_TRUE(job.server.closed.contains(a));
  EXPECT_EQ(job.server.runs->size(), 0u);
  EXPECT_EQ(job.server.runs->connections(), 0u);
}

TEST(LastWord, SoIsAGoodbyeThatEndsTheJob) {
  Resumed job;
  const MemberId b = job.server.connect(job.joins[1]);
  job.server.say(b, Leave{"stopped by SIGTERM", 143});
  const MemberId a = job.server.connect(job.joins[0]);
  EXPECT_EQ(job.server.last<Abort>(a).exit_code, 143);
  EXPECT_EQ(job.server.last<Abort>(a).cause.text, "node b left: stopped by SIGTERM");
}

TEST(LastWord, SoIsALossThatEndsTheJob) {
  Resumed job;
  const MemberId b = job.server.connect(job.joins[1]);
  job.server.reset(b);
  const MemberId a = job.server.connect(job.joins[0]);
  EXPECT_EQ(job.server.last<Abort>(a).exit_code, 125);
  EXPECT_EQ(job.server.last<Abort>(a).cause.node, "b");
}

// It was stopping its workers when the daemon was killed, so it has no place to show.
TEST(LastWord, WhoJoinsAnewInsteadOfComingBackHearsItAsWell) {
  Resumed job;
  job.server.connect(job.joins[1]);
  job.server.connect(AskCancel{.run = "r", .by = "me"});
  job.joins[0].held.reset();
  const MemberId a = job.server.connect(job.joins[0]);
  EXPECT_EQ(job.server.last<Abort>(a).exit_code, 143);
  EXPECT_EQ(job.server.runs->size(), 0u);
}

// As long as silence may go unnoticed, and a return may take.
TEST(LastWord, ItIsKeptNoLongerThanAReturnMayTake) {
  Resumed job;
  const MemberId b = job.server.connect(job.joins[1]);
  job.server.say(b, Leave{"stopped by SIGTERM", 143});
  job.server.pass(20s - 1ms);
  EXPECT_EQ(job.server.runs->size(), 0u);
  EXPECT_GT(job.server.runs->memory_bytes(), 0u);
  job.server.pass(1ms);
  EXPECT_EQ(job.server.runs->memory_bytes(), 0u);
  EXPECT_FALSE(job.server.wake_at);
}

TEST(LastWord, TheFirstReasonIsTheOneThatIsTold) {
  Resumed job;
  const MemberId b = job.server.connect(job.joins[1]);
  job.server.say(b, Leave{"stopped by SIGTERM", 143});
  job.server.connect(AskCancel{.run = "r", .by = "me"});
  const MemberId a = job.server.connect(job.joins[0]);
  EXPECT_EQ(job.server.last<Abort>(a).cause.text, "node b left: stopped by SIGTERM");
}

TEST(LastWord, ARunThatHasEndedCannotBeCancelled) {
  Resumed job;
  const MemberId b = job.server.connect(job.joins[1]);
  job.server.say(b, Leave{"stopped by SIGTERM", 143});
  const MemberId asker = job.server.connect(AskCancel{.run = "r", .by = "me"});
  EXPECT_EQ(job.server.last<Refused>(asker).why, "there is no run r here");
}

// Everybody in that place has heard how the old run ended, so this is a node of the next one.
TEST(LastWord, ItIsNoneOfTheNextRunsBusiness) {
  Resumed job;
  const MemberId b = job.server.connect(job.joins[1]);
  job.server.say(b, Leave{"stopped by SIGTERM", 143});
  const MemberId next = job.server.connect(job.fresh(1));
  EXPECT_TRUE(job.server.got<Welcome>(next));
  EXPECT_FALSE(job.server.got<Abort>(next));
  EXPECT_EQ(job.server.runs->size(), 1u);
}

TEST(LastWord, ARunThatLacksNobodyIsForgottenAtOnce) {
  Resumed job;
  job.server.connect(job.joins[0]);
  const MemberId b = job.server.connect(job.joins[1]);
  job.server.say(b, Leave{"stopped by SIGTERM", 143});
  EXPECT_EQ(job.server.runs->size(), 0u);
}

}  // namespace
}  // namespace ddprun::roster
