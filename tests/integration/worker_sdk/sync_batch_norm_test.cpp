// SyncBatchNorm between real ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "tests/integration/worker_sdk/job.h"

namespace ddp::test {
namespace {

using testing::HasSubstr;

// "name: number" on each line.
std::map<std::string, double> numbers(const std::string& out) {
  std::map<std::string, double> found;
  std::istringstream stream(out);
  for (std::string line; std::getline(stream, line);) {
    const auto colon = line.find(": ");
    if (colon == std::string::npos) continue;
    char* end = nullptr;
    const double number = std::strtod(line.c_str() + colon + 2, &end);
    if (end != line.c_str() + colon + 2) found[line.substr(0, colon)] = number;
  }
  return found;
}

TEST(SyncBatchNorm, IsBatchNormOfTheJoinedBatch) {
  const auto ranks = run_ranks(3, "sync_bn_as_joined");
  for (const Ended& each : ranks) {
    EXPECT_EQ(each.exit_code, 0) << describe(ranks);
    const auto found = numbers(each.out);
    EXPECT_EQ(found.size(), 13u) << each.out;
    for (const auto& [name, difference] : found) {
      const double limit = name == "float" ? 1e-3 : name == "bfloat16" ? 0.5 : 1e-11;
      EXPECT_LT(difference, limit) << name;
    }
  }
}

TEST(SyncBatchNorm, ALayerOfItsOwnTakesWhatAMarkedOneCannot) {
  const auto ranks = run_ranks(3, "sync_bn_layer");
  for (const Ended& each : ranks) {
    EXPECT_EQ(each.exit_code, 0) << describe(ranks);
    EXPECT_LT(numbers(each.out).at("bare"), 1e-11);
    EXPECT_LT(numbers(each.out).at("full"), 1e-11);
    EXPECT_THAT(each.out, HasSubstr("eval: 1\ncopy: 1\n"));
    EXPECT_THAT(each.out, HasSubstr("SyncBatchNorm: expected more than 1 value per channel when "
                                    "training, and there is 1 over all ranks\n"));
  }
}

TEST(SyncBatchNorm, JoinsTheRanksOfItsGroupOnly) {
  const auto ranks = run_ranks(3, "sync_bn_in_a_group");
  for (const std::size_t rank : {0u, 2u}) {
    EXPECT_EQ(ranks[rank].exit_code, 0) << describe(ranks);
    EXPECT_LT(numbers(ranks[rank].out).at("group"), 1e-11) << describe(ranks);
  }
  EXPECT_EQ(ranks[1].out, "plain: 1\n") << describe(ranks);
}

TEST(SyncBatchNorm, IsPlainWherePythonsIsAndOthersAreLeftAlone) {
  const auto ranks = run_ranks(2, "sync_bn_plain");
  for (const Ended& each : ranks) {
    EXPECT_EQ(each.exit_code, 0) << describe(ranks);
    EXPECT_EQ(each.out,
              "without a group: 1\nunmarked: 1 1\neval: 1\neval without statistics: 1\n"
              "no grad: 1\ninference mode: 1\n");
  }
}

TEST(SyncBatchNorm, TrainsLikeOneProcessUnderDistributedDataParallel) {
  const auto ranks = run_ranks(2, "sync_bn_and_ddp");
  for (const Ended& each : ranks) {
    EXPECT_EQ(each.exit_code, 0) << describe(ranks);
    EXPECT_EQ(numbers(each.out).at("has_sync_bn"), 1);
    EXPECT_LT(numbers(each.out).at("largest difference"), 1e-12) << each.out;
  }
}

TEST(SyncBatchNorm, RefusesWhatItCannotDo) {
  const auto ranks = run_ranks(2, "sync_bn_refused");
  EXPECT_EQ(ranks[0].exit_code, 0) << describe(ranks);
  EXPECT_EQ(ranks[0].out,
            "[rank 0] convert_sync_batchnorm: 0 has neither weights nor running statistics by "
            "which it could be known; use ddp::SyncBatchNorm there\n"
            "[rank 0] convert_sync_batchnorm: 1 has neither weights nor running statistics by "
            "which it could be known; use ddp::SyncBatchNorm there\n"
            "has_sync_bn: 0\n"
            "[rank 0] SyncBatchNorm: expected at least 2D input (got 1D input)\n"
            "[rank 0] convert_sync_batchnorm: the module is itself a batch norm and must be held "
            "by a shared_ptr or a holder\n"
            "[rank 0] SyncBatchNorm: its backward cannot be differentiated; call backward() "
            "without create_graph\n");
}

}  // namespace
}  // namespace ddp::test
