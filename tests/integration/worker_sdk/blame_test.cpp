// A rank that ends takes the others with it; ddprun must name that rank and not one that noticed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/support/run.h"

namespace ddp::test {
namespace {

using ddprun::test::Finished;
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

INSTANTIATE_TEST_SUITE_P(Each, BlameTest,
                         testing::Values(Fault{"exit_in_training", 42, "exit code 42"},
                                         Fault{"crash_in_training", 128 + SIGSEGV, "SIGSEGV"},
                                         Fault{"throw_in_training", 4, "my data is broken"}),
                         [](const auto& chosen) { return std::string(chosen.param.scenario); });

}  // namespace
}  // namespace ddp::test
