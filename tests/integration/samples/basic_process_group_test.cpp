#include <gmock/gmock.h>

#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST(BasicProcessGroup, ThreeRanksAddUp) {
  const auto job = ddprun({"-n", "3", "--device", "cpu", BASIC_PROCESS_GROUP},
                          {.limit = std::chrono::seconds(60)});
  EXPECT_EQ(job.code, 0) << job.err;
  EXPECT_THAT(lines(job.out),
              UnorderedElementsAre("rank 0 of 3 is here, on cpu", "rank 1 of 3 is here, on cpu",
                                   "rank 2 of 3 is here, on cpu",
                                   "rank 0: the sum over 3 ranks is [ 3 6 9 12 ]: right",
                                   "rank 1: the sum over 3 ranks is [ 3 6 9 12 ]: right",
                                   "rank 2: the sum over 3 ranks is [ 3 6 9 12 ]: right"));
}

TEST(BasicProcessGroup, WithoutLauncherSaysHowToStart) {
  const auto program = run({BASIC_PROCESS_GROUP}, {.limit = std::chrono::seconds(30)});
  EXPECT_EQ(program.code, 1);
  EXPECT_THAT(program.err, HasSubstr("MASTER_ADDR"));
  EXPECT_THAT(program.err, HasSubstr("ddprun"));
}

}  // namespace
}  // namespace ddprun::test
