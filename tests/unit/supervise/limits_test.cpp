// The time limits of a running group: alone, and what Group makes of them.
#include "launcher/supervise/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "launcher/supervise/group.h"

namespace ddprun::supervise {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using testing::ElementsAre;

constexpr WaitStatus kZero{WaitStatus::Kind::exited, 0, false};
constexpr WaitStatus kTerminated{WaitStatus::Kind::signaled, SIGTERM, false};

class LimitsTest : public testing::Test {
 protected:
  Time at(int ms) const { return start_ + milliseconds(ms); }
  LimitOptions progress(milliseconds limit) const {
    return {.job_started = start_, .timeout = {}, .exit_grace = {}, .progress_timeout = limit};
  }

  Group started(int workers, const LimitOptions& limits) {
    Group group(workers, {.grace = 30s, .limits = limits}, start_);
    for (int i = 0; i < workers; ++i) group.on_started(start_, i, 1000 + i);
    return group;
  }

  Time start_ = Time() + 1h;
};

TEST_F(LimitsTest, NoneIsSet) {
  Limits limits(2, {});
  limits.on_progress(at(1), 0);
  limits.on_ended(at(2), 1, true);
  EXPECT_FALSE(limits.next());
  EXPECT_FALSE(limits.passed(at(1'000'000)));
}

TEST_F(LimitsTest, ProgressIsDueOnceItWasReported) {
  Limits limits(2, progress(100ms));
  EXPECT_FALSE(limits.next());
  limits.on_progress(at(10), 1);
  EXPECT_EQ(limits.next(), at(110));
  EXPECT_FALSE(limits.passed(at(109)));
  const auto passed = limits.passed(at(110));
  ASSERT_TRUE(passed);
  EXPECT_EQ(passed->cause, Cause::progress_timeout);
  EXPECT_EQ(passed->silent_too, std::vector<int>{});
  EXPECT_EQ(passed->local_rank, 1);
  EXPECT_EQ(passed->limit, 100ms);
}

TEST_F(LimitsTest, ThoseThatFallSilentTogetherAreKnown) {
  Limits limits(4, progress(5000ms));
  limits.on_progress(at(10), 1);
  limits.on_progress(at(900), 0);
  limits.on_progress(at(1011), 2);
  const auto passed = limits.passed(at(5010));
  ASSERT_TRUE(passed);
  EXPECT_EQ(passed->local_rank, 1);
  EXPECT_EQ(passed->silent_too, std::vector<int>{0});  // not rank 3, which never reported
}

TEST_F(LimitsTest, EachReportGivesMoreTime) {
  Limits limits(2, progress(100ms));
  limits.on_progress(at(10), 0);
  limits.on_progress(at(20), 1);
  limits.on_progress(at(90), 0);
  EXPECT_FALSE(limits.passed(at(110))) << "rank 0 has reported again";
  EXPECT_EQ(limits.next(), at(120));
  EXPECT_EQ(limits.passed(at(120))->local_rank, 1);
}

TEST_F(LimitsTest, WhoEndsOrClosesHasNoLimit) {
  Limits limits(2, progress(100ms));
  limits.on_progress(at(0), 0);
  limits.on_progress(at(0), 1);
  limits.on_ended(at(5), 0, true);
  limits.on_progress_closed(1);
  EXPECT_FALSE(limits.passed(at(500)));
  EXPECT_FALSE(limits.next());
  limits.on_progress(at(600), 1);
  EXPECT_EQ(limits.next(), at(700));
}

TEST_F(LimitsTest, SuspendedTimeDoesNotCount) {
  Limits limits(1, progress(100ms));
  limits.on_progress(at(0), 0);
  limits.on_resumed(at(5000));
  EXPECT_FALSE(limits.passed(at(5001)));
  EXPECT_TRUE(limits.passed(at(5100)));
}

TEST_F(LimitsTest, AYearIsNever) {
  EXPECT_FALSE(deadline(start_, std::chrono::hours(24 * 365)));
  EXPECT_FALSE(deadline(start_, std::nullopt));
  EXPECT_EQ(deadline(start_, 1s), start_ + 1s);
}

TEST_F(LimitsTest, ASilentWorkerStopsTheGroupAsAFailure) {
  Group group = started(2, progress(100ms));
  EXPECT_EQ(group.on_progress(at(10), 1).wake_at, at(110));
  const Decision decision = group.on_time(at(110));
  ASSERT_TRUE(decision.signal);
  EXPECT_EQ(decision.signal->signo, SIGTERM);
  EXPECT_THAT(decision.signal->local_ranks, ElementsAre(0, 1));
  group.note_signalled(0, SIGTERM);
  group.note_signalled(1, SIGTERM);
  group.on_ended(at(111), 0, kTerminated);
  EXPECT_TRUE(group.on_ended(at(112), 1, kTerminated).finished);
  EXPECT_EQ(group.outcome().cause, Cause::progress_timeout);
  EXPECT_EQ(group.outcome().first_failed, 1);
  EXPECT_EQ(group.outcome().limit, 100ms);
  EXPECT_EQ(group.outcome().workers[1].ending, Ending::failed_first);
  EXPECT_EQ(group.outcome().workers[0].ending, Ending::stopped);
}

TEST_F(LimitsTest, ReportsDuringTheLadderChangeNothing) {
  Group group = started(2, progress(100ms));
  group.on_progress(at(10), 0);
  const Decision stop = group.on_stop_signal(at(20), SIGTERM);
  EXPECT_EQ(group.on_progress(at(30), 0).wake_at, stop.wake_at);
  EXPECT_FALSE(group.on_time(at(130)).signal);
}

TEST_F(LimitsTest, TheRestHasTheExitGrace) {
  Group group =
      started(3, {.job_started = start_, .timeout = {}, .exit_grace = 2s, .progress_timeout = {}});
  const Decision first = group.on_ended(at(1000), 1, kZero);
  EXPECT_EQ(first.wake_at, at(3000));
  EXPECT_EQ(first.reason, "local rank 1 ended with 0, 2 still run");
  EXPECT_EQ(group.on_ended(at(2500), 0, kZero).wake_at, at(3000)) << "the first one counts";
  const Decision decision = group.on_time(at(3000));
  ASSERT_TRUE(decision.signal);
  EXPECT_THAT(decision.signal->local_ranks, ElementsAre(2));
  group.note_signalled(2, SIGTERM);
  EXPECT_TRUE(group.on_ended(at(3001), 2, kTerminated).finished);
  EXPECT_EQ(group.outcome().cause, Cause::exit_grace);
  EXPECT_EQ(group.outcome().limit, 2s);
  EXPECT_FALSE(group.outcome().first_failed);
}

TEST_F(LimitsTest, AGroupThatEndsWithinTheExitGraceSucceeds) {
  Group group =
      started(2, {.job_started = start_, .timeout = {}, .exit_grace = 2s, .progress_timeout = {}});
  group.on_ended(at(1000), 1, kZero);
  EXPECT_TRUE(group.on_ended(at(2999), 0, kZero).finished);
  EXPECT_EQ(group.outcome().cause, Cause::success);
}

TEST_F(LimitsTest, TheTimeoutCountsFromTheStartOfTheJob) {
  Group group(1,
              {.grace = 30s,
               .limits = {.job_started = start_ - 3s,
                          .timeout = 5s,
                          .exit_grace = {},
                          .progress_timeout = {}}},
              start_);
  EXPECT_EQ(group.on_started(at(1), 0, 1000).wake_at, at(2000));
  EXPECT_TRUE(group.on_time(at(2000)).signal);
  EXPECT_EQ(group.outcome().cause, Cause::timeout);
  EXPECT_EQ(group.outcome().limit, 5s);
}

}  // namespace
}  // namespace ddprun::supervise
