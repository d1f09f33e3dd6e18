#include <gtest/gtest.h>

#include "tests/unit/report/jobs.h"

namespace ddprun::report {
namespace {

TEST(ExitDecision, SuccessIsZero) {
  EXPECT_EQ(exit_decision({}).code, 0);
}

TEST(ExitDecision, TheFirstFailingWorkersCode) {
  Job job(3);
  job.end(0, Ending::failed_after, exited(9), 3s);
  job.fail_first(2, exited(7), 2s);
  EXPECT_EQ(exit_decision(job.outcome).code, 7);
  job.fail_first(2, died(SIGABRT), 2s);
  EXPECT_EQ(exit_decision(job.outcome).code, 134);
  EXPECT_EQ(exit_decision(job.outcome).by_signal, 0);
}

TEST(ExitDecision, AStopSignalEndsUsByIt) {
  Job job(2);
  job.outcome.cause = Cause::stop_signal;
  job.outcome.stop_signal = SIGINT;
  EXPECT_EQ(exit_decision(job.outcome).by_signal, SIGINT);
  EXPECT_EQ(exit_decision(job.outcome).code, 130);
}

TEST(ExitDecision, AProgramThatCannotBeExecuted) {
  Job job(1);
  job.outcome.cause = Cause::exec_failed;
  for (int code : {125, 126, 127})
    EXPECT_EQ(exit_decision(job.outcome, ExecFailure{code, ""}).code, code);
}

TEST(ExitDecision, ALostGuardianIsOurOwnFailure) {
  Job job(1);
  job.outcome.cause = Cause::guardian_lost;
  EXPECT_EQ(exit_decision(job.outcome).code, 125);
}

TEST(ExitDecision, AWorkerThatCouldNotBeKilledIsOurOwnFailureWhateverTheCause) {
  Job job(2);
  job.fail_first(0, exited(1), 1s);
  job.outcome.workers[1].ending = Ending::still_running;
  EXPECT_EQ(exit_decision(job.outcome).code, 125);
  job.outcome.cause = Cause::stop_signal;
  job.outcome.stop_signal = SIGTERM;
  EXPECT_EQ(exit_decision(job.outcome).code, 125);
  EXPECT_EQ(exit_decision(job.outcome).by_signal, 0);
}

}  // namespace
}  // namespace ddprun::report
