// A rank that ends takes the others with it; ddprun must name that rank and not one that noticed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "rendezvous/base/read_file.h"
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

Finished train(const std::string& scenario, const std::vector<std::string>& environment,
               std::vector<std::string> options = {}) {
  std::vector<std::string> words{"-n", "3", "--device", "cpu"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {DDPRUN_TEST_WORKER, scenario});
  return ddprun::test::ddprun(words,
                              {.environment = environment, .limit = std::chrono::seconds(60)});
}

constexpr const char* kRankOneIsAbsent =
    "rank 1 did not take part; rank [02], which waited for it, failed first: exit code 1";

// The others see a time-out and end first, but the one that hangs is named, and where it is.
TEST(Blame, AHungRankIsNamedInTheReport) {
  const Finished end = train("hung_in_training", {});
  EXPECT_EQ(end.code, 1) << end.err;
  EXPECT_THAT(end.err, HasSubstr("Rank 1 does not take part: it hangs"));
  EXPECT_THAT(end.err, ContainsRegex(std::string("ddprun: ") + kRankOneIsAbsent));
  std::smatch path;
  ASSERT_TRUE(std::regex_search(end.err, path, std::regex("stacks of rank 1: (.*/1/stacks.txt)")));
  if (ddprun::test::run({"/bin/sh", "-c", "command -v eu-stack"}).code != 0)
    GTEST_SKIP() << "there is no eu-stack, of the package elfutils, to show where rank 1 hangs";
  const std::string stacks = ddprun::read_file(path[1]).value_or("");
  EXPECT_THAT(stacks, HasSubstr(" pause\n"));
  EXPECT_THAT(stacks, HasSubstr("hung_in_training"));
}

// Those that wait for it lose each other as well, when the first of them gives up.
TEST(Blame, AHungRankIsNamedWhicheverItIs) {
  for (const char* bad : {"0", "2"}) {
    const Finished end = train("hung_in_training", {"DDP_TEST_BAD_RANK=" + std::string(bad)});
    EXPECT_EQ(end.code, 1) << end.err;
    EXPECT_THAT(end.err,
                ContainsRegex("ddprun: rank " + std::string(bad) +
                              " did not take part; rank [0-2], which waited for it, failed "
                              "first: exit code 1"));
  }
}

// Rank 0 sends its buffers and waits in that; others may have gone on to the gradients.
TEST(Blame, AHungRankIsNamedWhereBuffersAreSent) {
  const Finished end = train("hung_in_training", {"DDP_TEST_BUFFERS=1"});
  EXPECT_EQ(end.code, 1) << end.err;
  EXPECT_THAT(end.err, ContainsRegex(std::string("ddprun: ") + kRankOneIsAbsent));
}

TEST(Blame, AHungRankIsNamedWhereOperationsAreChecked) {
  const Finished end = train("hung_in_training", {"TORCH_DISTRIBUTED_DEBUG=DETAIL"});
  EXPECT_EQ(end.code, 1) << end.err;
  EXPECT_THAT(end.err, ContainsRegex("the ranks did not meet before it. Rank 1 did not come: it "
                                     "has ended, hangs"));
  EXPECT_THAT(end.err, ContainsRegex(std::string("ddprun: ") + kRankOneIsAbsent));
}

TEST(Blame, AHungRankIsNamedBeforeARestart) {
  const Finished end = train("hung_in_training", {}, {"--max-restarts", "1"});
  EXPECT_EQ(end.code, 1) << end.err;
  EXPECT_THAT(end.err, ContainsRegex(std::string("attempt 0: ") + kRankOneIsAbsent +
                                     " after .*; restart 1 of 1"));
}

// Exit code 0 is no failure, so another rank fails first.
TEST(Blame, ARankThatLeavesTooEarlyIsNamed) {
  const Finished end = train("leave_in_training", {});
  EXPECT_EQ(end.code, 1) << end.err;
  EXPECT_THAT(end.err, ContainsRegex("Rank 1 has ended or lost its connection"));
  EXPECT_THAT(end.err, ContainsRegex(std::string("ddprun: ") + kRankOneIsAbsent));
}

TEST(Blame, AnExceptionThatNobodyCatchesIsInTheReport) {
  const Finished end = train("throw_in_thread", {});
  EXPECT_EQ(end.code, 128 + SIGABRT) << end.err;
  EXPECT_THAT(end.err, ContainsRegex("\\[rank [0-2]\\] std::runtime_error: my thread is broken"));
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
