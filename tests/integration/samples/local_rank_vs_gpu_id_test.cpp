// The four scenarios of the README's table, with GPUs that --simulate-gpus invents.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;
using Words = std::vector<std::string>;

constexpr std::chrono::seconds kLimit{60};

Finished simulate(const std::string& workers, const Words& environment,
                  const Words& more_options = {}) {
  Words words{"-n", workers, "--simulate-gpus", "8"};
  words.insert(words.end(), more_options.begin(), more_options.end());
  words.push_back(LOCAL_RANK_VS_GPU_ID);
  return ddprun(words, {.environment = environment, .limit = kLimit});
}

Words lines_with(const std::string& out, const std::string& text) {
  auto found = lines(out);
  std::erase_if(found, [&](const auto& line) { return line.find(text) == line.npos; });
  return found;
}

// The lines that tell which rank is on which GPU; the sample's only ones with this word.
void expect_gpus(const Finished& job, const Words& ids) {
  Words expected;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto k = std::to_string(i);
    expected.push_back("rank " + k + ": local rank " + k + ", device cpu (simulates cuda:" + k +
                       ", GPU " + ids[i] + "), GPU id " + ids[i]);
  }
  EXPECT_THAT(lines_with(job.out, "GPU id"), UnorderedElementsAreArray(expected)) << job.err;
}

// Every rank sees batches of these sizes, once inside the model and once outside.
void expect_batches(const Finished& job, int workers, const std::vector<int>& batches) {
  Words inside, outside;
  for (int rank = 0; rank < workers; ++rank) {
    for (const int batch : batches) {
      const auto size = std::to_string(batch);
      const auto sizes = "input size [" + size + ", 5] output size [" + size + ", 2]";
      inside.push_back("rank " + std::to_string(rank) + ": In Model: " + sizes);
      outside.push_back("rank " + std::to_string(rank) + ": Outside: " + sizes);
    }
  }
  EXPECT_THAT(lines_with(job.out, "In Model"), UnorderedElementsAreArray(inside));
  EXPECT_THAT(lines_with(job.out, "Outside"), UnorderedElementsAreArray(outside));
}

TEST(LocalRankVsGpuId, Scenario1TwoWorkersOnFourVisibleGpus) {
  const auto job = simulate("2", {"CUDA_VISIBLE_DEVICES=1,2,3,4"});
  EXPECT_EQ(job.code, 0) << job.err;
  expect_gpus(job, {"1", "2"});
  expect_batches(job, 2, {30, 15});
}

// 90 samples for 4 ranks: 23 each, with two of them dealt twice.
TEST(LocalRankVsGpuId, Scenario2FourWorkersOnFourVisibleGpus) {
  const auto job = simulate("4", {"CUDA_VISIBLE_DEVICES=1,2,3,4"});
  EXPECT_EQ(job.code, 0) << job.err;
  expect_gpus(job, {"1", "2", "3", "4"});
  expect_batches(job, 4, {23});
}

TEST(LocalRankVsGpuId, Scenario3WithoutListTheGpuIdIsTheLocalRank) {
  const auto job = simulate("4", {});
  EXPECT_EQ(job.code, 0) << job.err;
  expect_gpus(job, {"0", "1", "2", "3"});
  expect_batches(job, 4, {23});
}

TEST(LocalRankVsGpuId, Scenario4MoreWorkersThanGpusIsRefusedBeforeTheStart) {
  const auto job = simulate("5", {"CUDA_VISIBLE_DEVICES=1,2,3,4"});
  EXPECT_EQ(job.code, 2);
  EXPECT_THAT(job.out, IsEmpty());
  EXPECT_THAT(job.err, HasSubstr("1,2,3,4"));
  EXPECT_THAT(job.err, HasSubstr("--oversubscribe"));
}

TEST(LocalRankVsGpuId, TakesTheLocalRankAsAnArgument) {
  const auto today = simulate("2", {}, {"--pass-local-rank"});
  EXPECT_EQ(today.code, 0) << today.err;
  EXPECT_THAT(lines(today.out), Contains("local rank 1 came as --local-rank, too"));
  const auto once = simulate("2", {}, {"--pass-local-rank=local_rank"});
  EXPECT_EQ(once.code, 0) << once.err;
  EXPECT_THAT(lines(once.out), Contains("local rank 1 came as --local_rank, too"));
}

TEST(LocalRankVsGpuId, RefusesAWrongArgument) {
  const auto error = [](const std::string& argument) {
    const auto program =
        run({LOCAL_RANK_VS_GPU_ID, argument}, {.environment = {"LOCAL_RANK=1"}, .limit = kLimit});
    EXPECT_EQ(program.code, 2) << argument;
    return program.err;
  };
  EXPECT_THAT(error("--local-rank=0"), HasSubstr("--local-rank=0 contradicts LOCAL_RANK=1"));
  EXPECT_THAT(error("--local_rank="), HasSubstr("--local_rank= contradicts LOCAL_RANK=1"));
  EXPECT_THAT(error("--rank=1"), HasSubstr("unknown argument '--rank=1'"));
}

}  // namespace
}  // namespace ddprun::test
