// The time limits of a job: --timeout, --exit-grace, --progress-timeout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr int kTimedOut = 124;

TEST(TimeoutTest, StopsTheJob) {
  const Finished end = ddprun({"-n", "2", "--timeout", "0.3", "sleep", "1000"});
  EXPECT_EQ(end.code, kTimedOut);
  EXPECT_GE(end.took.count(), 300);
  EXPECT_THAT(end.err, HasSubstr("stopped after 0.3 s (--timeout); ranks 0-1 ended\n"));
}

TEST(TimeoutTest, HoldsForTheWholeJobWithItsPauses) {
  const Finished end = ddprun(
      {"--timeout", "1", "--max-restarts", "9", "--restart-backoff", "600", "sh", "-c", "exit 3"});
  EXPECT_EQ(end.code, kTimedOut) << end.err;
  EXPECT_THAT(end.err, HasSubstr("stopped after 1 s (--timeout)"));
  EXPECT_THAT(end.err, HasSubstr("\n  attempt 1: rank 0 failed first: exit code 3"));
}

TEST(TimeoutTest, AJobThatIsQuickerEndsAsUsual) {
  EXPECT_EQ(ddprun({"--timeout", "100", "sh", "-c", "exit 5"}).code, 5);
}

TEST(ExitGraceTest, TheOthersAreStoppedAndNamed) {
  const Finished end = ddprun(
      {"-n", "3", "--exit-grace", "0.2", "sh", "-c", "[ $RANK = 1 ] && exit 0; exec sleep 1000"});
  EXPECT_EQ(end.code, kTimedOut);
  EXPECT_THAT(end.err, HasSubstr("ranks 0, 2 still ran 0.2 s after the first worker had ended with "
                                 "0 (--exit-grace)\n"));
  EXPECT_THAT(end.err, ContainsRegex("before: rank 1 exited 0 after [0-9.]+ s\n"));
  EXPECT_THAT(end.err, HasSubstr("then: ranks 0, 2 stopped by ddprun (SIGTERM)\n"));
}

TEST(ExitGraceTest, WhoIsInTimeSucceeds) {
  EXPECT_EQ(ddprun({"-n", "2", "--exit-grace", "100", "sh", "-c", "sleep 0.$RANK"}).code, 0);
}

TEST(EarlyLeaverTest, IsNamedWithAFailureThatComesLaterAndLogged) {
  const TemporaryFolder folder;
  const std::string fifo = folder.make_fifo("fifo");
  const Finished end = ddprun({"-v", "-n", "2", "sh", "-c",
                               "if [ $RANK = 1 ]; then echo > " + fifo + "; exit 0; fi; read x < " +
                                   fifo + "; sleep 0.1; exit 7"});
  EXPECT_EQ(end.code, 7);
  EXPECT_THAT(end.err, HasSubstr("ended with 0, 1 still runs\n"));
  EXPECT_THAT(end.err, ContainsRegex("then: rank 1 had exited 0 [0-9.]+ s earlier\n"));
}

Finished with_progress(const std::string& script, std::vector<std::string> options = {}) {
  options.insert(options.begin(), {"--progress-timeout", "0.3"});
  options.insert(options.end(), {"sh", "-c", script});
  return ddprun(std::move(options));
}

TEST(ProgressTest, AWorkerThatFallsSilentHasFailed) {
  const Finished end = with_progress("echo x >&$DDPRUN_PROGRESS_FD; exec sleep 1000");
  EXPECT_EQ(end.code, kTimedOut);
  EXPECT_THAT(end.err, HasSubstr("rank 0 failed first: no progress for 0.3 s "
                                 "(--progress-timeout) after "));
}

TEST(ProgressTest, SoHasAStoppedOne) {
  const Finished end = with_progress("echo x >&$DDPRUN_PROGRESS_FD; kill -STOP $$");
  EXPECT_EQ(end.code, kTimedOut);
  EXPECT_THAT(end.err, HasSubstr("no progress for 0.3 s"));
  EXPECT_LT(end.took.count(), 10'000);
}

TEST(ProgressTest, WhoNeverReportsHasNoLimit) {
  EXPECT_EQ(with_progress("sleep 0.7").code, 0);
}

TEST(ProgressTest, WhoClosesTheDescriptorHasNoneAnyLonger) {
  EXPECT_EQ(with_progress("echo x >&3; exec 3>&-; sleep 0.7").code, 0);
}

TEST(ProgressTest, ASilentWorkerMayStartAgain) {
  const Finished end = with_progress(
      "[ $TORCHELASTIC_RESTART_COUNT = 1 ] && exit 0; echo x >&$DDPRUN_PROGRESS_FD; exec sleep "
      "1000",
      {"--max-restarts", "1"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("attempt 0: rank 0 failed first: no progress for 0.3 s"));
}

TEST(ProgressTest, WithoutTheOptionThereIsNoDescriptor) {
  const Finished end = ddprun({"sh", "-c", "env; ls /proc/$$/fd"});
  EXPECT_THAT(end.out, Not(HasSubstr("DDPRUN_PROGRESS_FD")));
  EXPECT_THAT(end.out, testing::EndsWith("\n0\n1\n2\n"));
}

TEST(ProgressTest, AFullPipeDoesNotBlockTheWorker) {
  const Finished end = with_progress(
      "head -c 10000000 /dev/zero 2>/dev/null >&3; dd if=/dev/zero bs=100000 count=10 2>/dev/null "
      ">&3; exit 0");
  EXPECT_EQ(end.code, 0) << end.err;
}

}  // namespace
}  // namespace ddprun::test
