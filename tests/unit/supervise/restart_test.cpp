// Whether and when another attempt follows.
#include "launcher/supervise/restart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace ddprun::supervise {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr WaitStatus kFailed{WaitStatus::Kind::exited, 3, false};

// Attempts that lasted so long until they failed.
std::vector<Attempt> failed_after(const std::vector<nanoseconds>& spans) {
  std::vector<Attempt> attempts;
  for (nanoseconds span : spans)
    attempts.push_back({static_cast<int>(attempts.size()), Cause::worker_failed, 0, kFailed, span});
  return attempts;
}

nanoseconds pause_after(const std::vector<nanoseconds>& spans, nanoseconds backoff = 1s) {
  const auto next = decide_restart(failed_after(spans), {100, backoff});
  EXPECT_TRUE(next.restart);
  return next.pause;
}

TEST(RestartTest, AsOftenAsAskedFor) {
  EXPECT_TRUE(decide_restart(failed_after({5s}), {.max_restarts = 2}).restart);
  EXPECT_TRUE(decide_restart(failed_after({5s, 5s}), {.max_restarts = 2}).restart);
  const auto third = decide_restart(failed_after({5s, 5s, 5s}), {.max_restarts = 2});
  EXPECT_FALSE(third.restart);
  EXPECT_EQ(third.reason, "no restart is left");
  EXPECT_FALSE(decide_restart(failed_after({5s}), {}).restart);
}

TEST(RestartTest, AGroupThatRanDoesNotPause) {
  EXPECT_EQ(pause_after({5s, 5s, 5s}), 0s);
  EXPECT_EQ(pause_after({10ms}), 0s);
  EXPECT_EQ(pause_after({10ms, 1001ms}), 0s);
}

TEST(RestartTest, QuickFailuresInARowPauseLongerAndLonger) {
  EXPECT_EQ(pause_after({10ms, 1s}), 1s);
  EXPECT_EQ(pause_after({10ms, 10ms, 10ms}), 2s);
  EXPECT_EQ(pause_after({5s, 10ms, 10ms, 10ms, 10ms}), 4s);
  EXPECT_EQ(pause_after(std::vector<nanoseconds>(7, 10ms)), 30s);
  EXPECT_EQ(pause_after(std::vector<nanoseconds>(90, 10ms)), 30s);
  EXPECT_EQ(pause_after({10ms, 10ms, 5s, 10ms}), 0s) << "a long run starts the count anew";
}

TEST(RestartTest, TheBackoffIsTheFirstPause) {
  EXPECT_EQ(pause_after({1ms, 1ms}, 250ms), 250ms);
  EXPECT_EQ(pause_after({1ms, 1ms, 1ms}, 250ms), 500ms);
  EXPECT_EQ(pause_after({1ms, 1ms, 1ms, 1ms}, 0s), 0s);
  EXPECT_EQ(pause_after({1ms, 1ms}, 45s), 45s);
  EXPECT_EQ(pause_after({1ms, 1ms, 1ms}, 45s), 45s);
}

TEST(RestartTest, ThePauseHasAReason) {
  EXPECT_EQ(decide_restart(failed_after({1ms, 1ms}), {.max_restarts = 9}).reason,
            "failed within a second 2 times in a row");
  EXPECT_EQ(decide_restart(failed_after({1ms}), {.max_restarts = 9}).reason, "");
}

class FailedAttemptTest : public testing::Test {
 protected:
  FailedAttemptTest() {
    outcome_.started = start_;
    outcome_.stopping_since = start_ + 5s;
    outcome_.workers = {
        {0, 100, start_, start_ + 6s, WaitStatus{}, Ending::stopped, SIGTERM},
        {1, 101, start_ + 1s, start_ + 5s, kFailed, Ending::failed_first, 0},
    };
    outcome_.first_failed = 1;
    outcome_.cause = Cause::worker_failed;
  }

  Time start_ = Time() + 1h;
  Outcome outcome_;
};

TEST_F(FailedAttemptTest, SaysWhoFailedHowAndWhen) {
  const auto attempt = failed_attempt(4, outcome_);
  ASSERT_TRUE(attempt);
  EXPECT_EQ(attempt->number, 4);
  EXPECT_EQ(attempt->first_failed, 1);
  EXPECT_EQ(attempt->status->value, 3);
  EXPECT_EQ(attempt->ran, 4s);
}

TEST_F(FailedAttemptTest, ASilentWorkerCountsAsOne) {
  outcome_.cause = Cause::progress_timeout;
  outcome_.limit = 2s;
  const auto attempt = failed_attempt(0, outcome_);
  ASSERT_TRUE(attempt);
  EXPECT_EQ(attempt->cause, Cause::progress_timeout);
  EXPECT_EQ(attempt->limit, 2s);
}

TEST_F(FailedAttemptTest, OtherEndsAreNotRepeated) {
  for (Cause cause : {Cause::success, Cause::exec_failed, Cause::stop_signal, Cause::guardian_lost,
                      Cause::exit_grace, Cause::timeout}) {
    outcome_.cause = cause;
    EXPECT_FALSE(failed_attempt(0, outcome_)) << static_cast<int>(cause);
  }
}

TEST_F(FailedAttemptTest, WhatCouldNotBeKilledStillHoldsTheDevice) {
  outcome_.workers[0].ending = Ending::still_running;
  EXPECT_FALSE(failed_attempt(0, outcome_));
}

TEST_F(FailedAttemptTest, AStopSignalTakesThePlaceOfTheFailure) {
  const Outcome end =
      interrupted(outcome_, {.cause = Cause::stop_signal, .stop_signal = SIGINT, .limit = {}});
  EXPECT_EQ(end.cause, Cause::stop_signal);
  EXPECT_EQ(end.stop_signal, SIGINT);
  EXPECT_FALSE(end.first_failed);
  EXPECT_EQ(end.workers[0].ending, Ending::stopped);
  EXPECT_EQ(end.workers[1].ending, Ending::failed_after);
}

TEST_F(FailedAttemptTest, ASilentWorkerOfAnInterruptedJobWasStopped) {
  outcome_.cause = Cause::progress_timeout;
  outcome_.workers[1].last_signal = SIGTERM;
  const Outcome end =
      interrupted(outcome_, {.cause = Cause::timeout, .stop_signal = 0, .limit = 9s});
  EXPECT_EQ(end.workers[1].ending, Ending::stopped);
  EXPECT_EQ(end.limit, 9s);
}

}  // namespace
}  // namespace ddprun::supervise
