// A rank that ends takes the others with it; ddprun must name that rank and not one that noticed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/support/run.h"

namespace ddp::test {
namespace {

using ddprun::test::Finished;
using testing::ContainsRegex;
using testing::HasSubstr;

struct Fault {
  const char* scenario;
  int code;
  const char* says;
};
void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.scenario;
}

class BlameTest : public testing::TestWithParam<Fault> {};

TEST_P(BlameTest, TheRankThatEndedIsTheCause) {
  for (int round = 0; round < 3; ++round) {
    const Finished end = ddprun::test::ddprun(
        {"-n", "3", "--device", "cpu", DDPRUN_TEST_WORKER, GetParam().scenario},
        {.limit = std::chrono::seconds(60)});
    ASSERT_EQ(end.code, GetParam().code) << end.err;
    EXPECT_THAT(end.err, HasSubstr("rank 1 failed first"));
    EXPECT_THAT(end.err, HasSubstr(GetParam().says));
  }
}

// The others see a time-out and end first, but the one that hangs is named, and where it is.
TEST(Blame, AHungRankIsNamedInTheReport) {
  const Finished end =
      ddprun::test::ddprun({"-n", "3", "--device", "cpu", DDPRUN_TEST_WORKER, "hung_in_training"},
                           {.limit = std::chrono::seconds(60)});
  EXPECT_EQ(end.code, 1) << end.err;
  EXPECT_THAT(end.err, HasSubstr("Rank 1 does not take part: it hangs"));
  EXPECT_THAT(end.err,
              ContainsRegex("ddprun: rank 1 did not take part; rank [02], which waited for "
                            "it, failed first: exit code 1"));
  EXPECT_THAT(end.err, ContainsRegex("stacks of rank 1: .*/1/stacks.txt"));
}

// All wait for rank 1, so all fall silent, but rank 1 did so first.
TEST(Blame, TheRankThatStopsCallingProgressIsTheCause) {
  const Finished end = ddprun::test::ddprun({"-n", "3", "--device", "cpu", "--progress-timeout",
                                             "10", DDPRUN_TEST_WORKER, "silent_in_training"},
                                            {.limit = std::chrono::seconds(60)});
  EXPECT_EQ(end.code, 124) << end.err;
  EXPECT_THAT(end.err, HasSubstr("rank 1 failed first: no progress for 10 s"));
}

TEST(Blame, WhoGoesOnCallingProgressLives) {
  const Finished end = ddprun::test::ddprun({"-n", "2", "--device", "cpu", "--progress-timeout",
                                             "10", DDPRUN_TEST_WORKER, "progress_goes_on"},
                                            {.limit = std::chrono::seconds(60)});
  EXPECT_EQ(end.code, 0) << end.err;
}

INSTANTIATE_TEST_SUITE_P(Each, BlameTest,
                         testing::Values(Fault{"exit_in_training", 42, "exit code 42"},
                                         Fault{"crash_in_training", 128 + SIGSEGV, "SIGSEGV"},
                                         Fault{"throw_in_training", 4, "my data is broken"},
                                         Fault{"killed_in_training", 128 + SIGKILL, "SIGKILL"},
                                         Fault{"throw_in_forward", 1, "my forward is broken"},
                                         Fault{"throw_in_backward", 1, "my backward is broken"},
                                         Fault{"throw_in_loader", 1, "my file is broken"},
                                         Fault{"throw_in_sampler", 1, "my sampler is broken"}),
                         [](const auto& chosen) { return std::string(chosen.param.scenario); });

}  // namespace
}  // namespace ddp::test
