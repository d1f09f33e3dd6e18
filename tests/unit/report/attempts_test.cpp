// Reports of jobs that had restarts or ran into a time limit.
#include "launcher/report/attempts.h"

#include <gmock/gmock.h>

#include "tests/unit/report/jobs.h"

namespace ddprun::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(EarlierAttempts, AreOneLineEachInTheReportOfTheLast) {
  Job job(3);
  job.fail_first(1, exited(4), 500ms);
  job.facts.attempt = 2;
  job.facts.earlier_attempts = {{0, Cause::worker_failed, 2, exited(3), 1204ms, {}},
                                {1, Cause::progress_timeout, 0, died(SIGTERM), 9s, 5s}};
  EXPECT_EQ(
      job.text(),
      "ddprun: rank 1 failed first: exit code 4 after 0.500 s\n"
      "  host gpu07, local rank 1, CPU, pid 4710, attempt 2\n"
      "  it wrote nothing\n"
      "  then: ranks 0, 2 stopped by ddprun (SIGTERM)\n"
      "  attempt 0: rank 2 failed first: exit code 3 after 1.204 s\n"
      "  attempt 1: rank 0 failed first: no progress for 5 s (--progress-timeout) after 9.000 "
      "s\n");
}

TEST(EarlierAttempts, OfManyTheLastFourAreShown) {
  Job job(1);
  job.fail_first(0, exited(1), 1s);
  for (int i = 0; i < 7; ++i)
    job.facts.earlier_attempts.push_back({i, Cause::worker_failed, 0, exited(10 + i), 1s, {}});
  const std::string text = job.text();
  EXPECT_THAT(text, HasSubstr("  3 attempts failed before these:\n  attempt 3: rank 0"));
  EXPECT_THAT(text, HasSubstr("attempt 6: rank 0 failed first: exit code 16"));
  EXPECT_THAT(text, Not(HasSubstr("attempt 2:")));
}

TEST(EarlierAttempts, SuccessWithRestartsIsOneLine) {
  Job job(2);
  job.facts.earlier_attempts = {{0, Cause::worker_failed, 1, exited(3), 1s, {}}};
  EXPECT_EQ(job.text(), "ddprun: all workers ended with 0, after 1 restart\n");
}

TEST(EarlierAttempts, AStopNamesThemToo) {
  Job job(1);
  job.outcome.cause = Cause::stop_signal;
  job.outcome.stop_signal = SIGTERM;
  job.facts.earlier_attempts = {{0, Cause::worker_failed, 0, exited(3), 1s, {}}};
  EXPECT_EQ(job.text(),
            "ddprun: stopped by SIGTERM; rank 0 ended\n"
            "  attempt 0: rank 0 failed first: exit code 3 after 1.000 s\n");
}

TEST(TimeLimits, ASilentWorkerIsTheFirstFailure) {
  Job job(2);
  job.fail_first(1, died(SIGTERM), 12s);
  job.outcome.cause = Cause::progress_timeout;
  job.outcome.limit = 250ms;
  job.outcome.stopping_since = Job::start() + 11s;
  EXPECT_THAT(
      job.text(),
      HasSubstr(
          "rank 1 failed first: no progress for 0.25 s (--progress-timeout) after 11.000 s\n"));
  EXPECT_EQ(exit_decision(job.outcome).code, 124);
}

TEST(TimeLimits, TheWholeJobs) {
  Job job(2);
  job.outcome.cause = Cause::timeout;
  job.outcome.limit = 90s;
  EXPECT_EQ(job.text(), "ddprun: stopped after 90 s (--timeout); ranks 0-1 ended\n");
  EXPECT_EQ(exit_decision(job.outcome).code, 124);
}

TEST(TimeLimits, WhoLeftEarlyAndWhoStillRan) {
  Job job(4);
  job.outcome.cause = Cause::exit_grace;
  job.outcome.limit = 2s;
  job.outcome.stopping_since = Job::start() + 5s;
  job.end(1, Ending::exited_zero, exited(0), 3s);
  job.end(2, Ending::exited_zero, exited(0), 4s);
  EXPECT_EQ(job.text(),
            "ddprun: ranks 0, 3 still ran 2 s after the first worker had ended with 0 "
            "(--exit-grace)\n"
            "  before: ranks 1-2 exited 0 after 3.00 to 4.00 s\n"
            "  then: ranks 0, 3 stopped by ddprun (SIGTERM)\n");
  EXPECT_EQ(exit_decision(job.outcome).code, 124);
}

TEST(EarlyLeavers, AreNamedWhenAnotherWorkerFails) {
  Job job(3);
  job.fail_first(0, exited(1), 3s);
  job.end(1, Ending::exited_zero, exited(0), 1500ms);
  job.end(2, Ending::exited_zero, exited(0), 3100ms);
  EXPECT_THAT(job.text(), HasSubstr("then: rank 1 had exited 0 1.50 s earlier, rank 2 exited 0\n"));
}

TEST(EarlierAttempts, NameWhomTheFailedWorkerHadWaitedFor) {
  Job job(2);
  job.fail_first(1, exited(1), 83ms);
  job.facts.earlier_attempts = {{.cause = Cause::worker_failed,
                                 .first_failed = 0,
                                 .status = exited(1),
                                 .ran = 1s,
                                 .absent = {1}}};
  EXPECT_THAT(job.text(), HasSubstr("  attempt 0: rank 1 did not take part; rank 0, which waited "
                                    "for it, failed first: exit code 1 after 1.000 s\n"));
}

TEST(EarlierAttempts, SayHowAWorkerOfAnotherNodeFailedInThatNodesWords) {
  Job job(2);
  job.fail_first(1, exited(1), 83ms);
  job.facts.earlier_attempts = {{.cause = Cause::worker_failed,
                                 .first_failed = 0,
                                 .status = exited(124),
                                 .ran = 1s,
                                 .rank = 4,
                                 .host = "b",
                                 .how = "no progress for 5 s (--progress-timeout)"}};
  EXPECT_THAT(job.text(), HasSubstr("  attempt 0: rank 4 failed first on node b: no progress for "
                                    "5 s (--progress-timeout) after 1.000 s\n"));
}

}  // namespace
}  // namespace ddprun::report
