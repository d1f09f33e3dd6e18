#include <gtest/gtest.h>

#include "tests/unit/report/jobs.h"

namespace ddprun::report {
namespace {

TEST(Describe, NamesSignalsAndWhatTheyMean) {
  EXPECT_EQ(describe(died(SIGABRT, true)), "SIGABRT (aborted, core dumped)");
  EXPECT_EQ(describe(died(SIGSEGV)), "SIGSEGV (segmentation fault)");
  EXPECT_EQ(describe(died(SIGUSR1)), "SIGUSR1");
  EXPECT_EQ(describe(died(SIGUSR1, true)), "SIGUSR1 (core dumped)");
  EXPECT_EQ(describe(died(40)), "signal 40");
}

TEST(Describe, NeverGuessesWhoSentSigkill) {
  EXPECT_EQ(describe(died(SIGKILL)), "SIGKILL (killed, sender unknown)");
}

TEST(Describe, ExitCodes) {
  EXPECT_EQ(describe(exited(3)), "exit code 3");
}

}  // namespace
}  // namespace ddprun::report
