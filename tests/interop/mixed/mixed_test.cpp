// Python ranks and C++ ranks train one model in one group, started by ddprun.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <set>

#include "tests/integration/support/run.h"
#include "tests/interop/mixed/sums.h"

namespace ddprun::test {
namespace {

Finished train_mixed(const std::string& workers, std::vector<std::string> environment = {}) {
  return ddprun({"-n", workers, "--device", "cpu", getenv("DDPRUN_INTEROP_PYTHON"), MIXED_RANK_PY,
                 MIXED_RANK},
                {.environment = std::move(environment), .limit = std::chrono::seconds(90)});
}

void expect_equal_weights(const std::string& workers, std::size_t python_ranks,
                          std::size_t cpp_ranks, std::vector<std::string> environment = {}) {
  const auto job = train_mixed(workers, std::move(environment));
  EXPECT_EQ(job.code, 0) << job.err;
  const auto python = sums(job.out, "Python"), cpp = sums(job.out, "C++");
  EXPECT_EQ(python.size(), python_ranks) << job.out;
  EXPECT_EQ(cpp.size(), cpp_ranks) << job.out;
  std::set<std::string> different(python.begin(), python.end());
  different.insert(cpp.begin(), cpp.end());
  EXPECT_EQ(different.size(), 1u) << job.out;
}

TEST(Mixed, TwoRanksEndWithTheSameWeights) {
  expect_equal_weights("2", 1, 1);
}

TEST(Mixed, ThreeRanksEndWithTheSameWeights) {
  expect_equal_weights("3", 2, 1);
}

// Every collective of both is compared, through groups and keys that must be the same.
TEST(Mixed, DetailAndTheBarrierAfterInitWorkInBothLanguages) {
  expect_equal_weights(
      "2", 1, 1, {"COLLECTIVES=1", "TORCH_DISTRIBUTED_DEBUG=DETAIL", "TORCH_DIST_INIT_BARRIER=1"});
}

TEST(Mixed, DetailFindsThatTheLanguagesDiffer) {
  const auto job =
      train_mixed("2", {"COLLECTIVES=1", "TORCH_DISTRIBUTED_DEBUG=DETAIL", "MISMATCH=1"});
  EXPECT_NE(job.code, 0);
  EXPECT_THAT(job.err, testing::HasSubstr("[rank 1] all_reduce"));
  EXPECT_THAT(job.err, testing::HasSubstr("[2]"));
  EXPECT_THAT(job.err, testing::HasSubstr("[3]"));
}

}  // namespace
}  // namespace ddprun::test
