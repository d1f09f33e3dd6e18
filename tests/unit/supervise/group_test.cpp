// The decisions of a worker group, with times that the test makes up.
#include "launcher/supervise/group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace ddprun::supervise {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

constexpr WaitStatus kZero{WaitStatus::Kind::exited, 0, false};
constexpr WaitStatus kTerminated{WaitStatus::Kind::signaled, SIGTERM, false};
WaitStatus code(int value) {
  return {WaitStatus::Kind::exited, value, false};
}

class GroupTest : public testing::Test {
 protected:
  Time at(int ms) const { return start_ + milliseconds(ms); }

  Group started(int workers, Options options = {}) {
    Group group(workers, options, start_);
    for (int i = 0; i < workers; ++i) group.on_started(at(i), i, 1000 + i);
    return group;
  }

  static void note_all(Group& group, const Decision& decision) {
    ASSERT_TRUE(decision.signal);
    for (int rank : decision.signal->local_ranks)
      group.note_signalled(rank, decision.signal->signo);
  }

  Time start_ = Time() + std::chrono::hours(1);
};

TEST_F(GroupTest, SuccessNeedsEveryWorker) {
  Group group = started(2);
  EXPECT_FALSE(group.on_ended(at(10), 1, kZero).finished);
  const Decision last = group.on_ended(at(20), 0, kZero);
  EXPECT_TRUE(last.finished);
  EXPECT_FALSE(last.signal);
  EXPECT_EQ(group.outcome().cause, Cause::success);
  EXPECT_EQ(group.outcome().workers[0].ending, Ending::exited_zero);
}

TEST_F(GroupTest, AWorkerThatEndsBeforeTheLastIsStartedDoesNotEndTheGroup) {
  Group group(2, {}, start_);
  group.on_started(at(0), 0, 1000);
  EXPECT_FALSE(group.on_ended(at(1), 0, kZero).finished);
  group.on_started(at(2), 1, 1001);
  EXPECT_TRUE(group.on_ended(at(3), 1, kZero).finished);
}

TEST_F(GroupTest, TheFirstFailureIsTheCauseAndTheRestIsStopped) {
  Group group = started(4);
  const Decision first = group.on_ended(at(10), 2, code(42));
  ASSERT_TRUE(first.signal);
  EXPECT_EQ(first.signal->signo, SIGTERM);
  EXPECT_THAT(first.signal->local_ranks, ElementsAre(0, 1, 3));
  EXPECT_EQ(first.wake_at, at(10) + seconds(30));
  // Rank 3 had ended before the signal reached it, the others end because of it.
  group.note_signalled(0, SIGTERM);
  group.note_signalled(1, SIGTERM);
  group.on_ended(at(15), 3, code(1));
  group.on_ended(at(16), 0, kTerminated);
  EXPECT_TRUE(group.on_ended(at(17), 1, code(1)).finished);
  const Outcome& outcome = group.outcome();
  EXPECT_EQ(outcome.cause, Cause::worker_failed);
  EXPECT_EQ(outcome.first_failed, 2);
  EXPECT_EQ(outcome.stopping_since, at(10));
  EXPECT_EQ(outcome.workers[2].ending, Ending::failed_first);
  EXPECT_EQ(outcome.workers[3].ending, Ending::failed_after);
  EXPECT_EQ(outcome.workers[0].ending, Ending::stopped);
  EXPECT_EQ(outcome.workers[1].ending, Ending::stopped);
}

TEST_F(GroupTest, AfterTheGraceTimeWhatIsLeftIsKilledOnce) {
  Group group = started(3, {.grace = seconds(2)});
  note_all(group, group.on_ended(at(0), 0, code(1)));
  group.on_ended(at(5), 1, kTerminated);
  EXPECT_FALSE(group.on_time(at(1999)).signal);
  const Decision kill = group.on_time(at(2000));
  ASSERT_TRUE(kill.signal);
  EXPECT_EQ(kill.signal->signo, SIGKILL);
  EXPECT_THAT(kill.signal->local_ranks, ElementsAre(2));
}

TEST_F(GroupTest, AWorkerThatSurvivesSigkillIsReportedAndNotWaitedForForEver) {
  Group group = started(2, {.grace = seconds(0)});
  const Decision kill = group.on_ended(at(0), 0, code(1));
  ASSERT_TRUE(kill.signal);
  EXPECT_EQ(kill.signal->signo, SIGKILL);
  ASSERT_TRUE(kill.wake_at);
  EXPECT_TRUE(group.on_time(*kill.wake_at).finished);
  EXPECT_EQ(group.outcome().workers[1].ending, Ending::still_running);
}

TEST_F(GroupTest, AStopSignalIsForwardedAsItself) {
  Group group = started(2);
  const Decision decision = group.on_stop_signal(at(0), SIGINT);
  ASSERT_TRUE(decision.signal);
  EXPECT_EQ(decision.signal->signo, SIGINT);
  note_all(group, decision);
  group.on_ended(at(1), 0, code(3));
  EXPECT_TRUE(group.on_ended(at(2), 1, kZero).finished);
  EXPECT_EQ(group.outcome().cause, Cause::stop_signal);
  EXPECT_EQ(group.outcome().stop_signal, SIGINT);
  EXPECT_FALSE(group.outcome().first_failed);
}

TEST_F(GroupTest, TheSameSignalDeliveredTwiceIsOneSignal) {
  Group group = started(1);
  group.on_stop_signal(at(0), SIGTERM);
  EXPECT_FALSE(group.on_stop_signal(at(100), SIGTERM).signal);
}

TEST_F(GroupTest, ASecondStopSignalKillsAtOnce) {
  Group group = started(1);
  group.on_stop_signal(at(0), SIGINT);
  const Decision second = group.on_stop_signal(at(101), SIGINT);
  ASSERT_TRUE(second.signal);
  EXPECT_EQ(second.signal->signo, SIGKILL);
}

// Slurm's first SIGTERM must not cut short what workers do after a sibling has failed.
TEST_F(GroupTest, TheFirstStopSignalDuringTheLadderOfAFailureChangesNothing) {
  Group group = started(2);
  group.on_ended(at(0), 0, code(7));
  EXPECT_FALSE(group.on_stop_signal(at(5), SIGTERM).signal);
  EXPECT_FALSE(group.on_stop_signal(at(50), SIGTERM).signal);
  const Decision second = group.on_stop_signal(at(106), SIGTERM);
  ASSERT_TRUE(second.signal);
  EXPECT_EQ(second.signal->signo, SIGKILL);
  EXPECT_EQ(group.outcome().cause, Cause::worker_failed);
}

TEST_F(GroupTest, ATimerThatComesTooLateSaysNothing) {
  Group group = started(1, {.grace = seconds(1)});
  group.on_stop_signal(at(0), SIGTERM);
  group.note_signalled(0, SIGTERM);
  EXPECT_TRUE(group.on_ended(at(10), 0, kTerminated).finished);
  EXPECT_EQ(group.on_time(at(9999)).reason, "");
}

TEST_F(GroupTest, WorkersAreStartedInOrderUntilSomethingFails) {
  Group group(3, {}, start_);
  EXPECT_EQ(group.next_to_start(), 0);
  group.on_started(at(0), 0, 1000);
  EXPECT_EQ(group.next_to_start(), 1);
  group.on_ended(at(1), 0, code(1));
  EXPECT_FALSE(group.next_to_start());
}

TEST_F(GroupTest, AProgramThatCannotBeStartedStopsTheStartedOnes) {
  Group group(3, {}, start_);
  group.on_started(at(0), 0, 1000);
  const Decision decision = group.on_exec_failed(at(1), 1);
  EXPECT_FALSE(group.next_to_start());
  ASSERT_TRUE(decision.signal);
  EXPECT_THAT(decision.signal->local_ranks, ElementsAre(0));
  group.note_signalled(0, SIGTERM);
  EXPECT_TRUE(group.on_ended(at(2), 0, kTerminated).finished);
  EXPECT_EQ(group.outcome().cause, Cause::exec_failed);
  EXPECT_EQ(group.outcome().workers[2].ending, Ending::not_started);
}

TEST_F(GroupTest, AMissingProgramEndsTheGroupAtOnce) {
  Group group(2, {}, start_);
  EXPECT_TRUE(group.on_exec_failed(at(0), 0).finished);
}

TEST_F(GroupTest, WithoutItsGuardianTheGroupHasHalfASecond) {
  Group group = started(1);
  const Decision decision = group.on_guardian_lost(at(0));
  ASSERT_TRUE(decision.signal);
  EXPECT_EQ(decision.signal->signo, SIGTERM);
  EXPECT_EQ(decision.wake_at, at(500));
  EXPECT_EQ(group.on_time(at(500)).signal->signo, SIGKILL);
}

TEST_F(GroupTest, LosingTheGuardianShortensALadderThatIsUnderWay) {
  Group group = started(2);
  group.on_ended(at(0), 0, code(1));
  EXPECT_EQ(group.on_guardian_lost(at(100)).wake_at, at(600));
  EXPECT_EQ(group.outcome().cause, Cause::worker_failed);
}

TEST_F(GroupTest, AnInfiniteGraceNeverKills) {
  Group group = started(2, {.grace = std::chrono::nanoseconds::max()});
  EXPECT_FALSE(group.on_ended(at(0), 0, code(1)).wake_at);
  EXPECT_FALSE(group.on_time(at(1'000'000'000)).signal);
}

TEST_F(GroupTest, EveryDecisionSaysWhy) {
  Group group = started(2);
  EXPECT_EQ(group.on_ended(at(0), 1, code(1)).reason, "local rank 1 failed first");
}

}  // namespace
}  // namespace ddprun::supervise
