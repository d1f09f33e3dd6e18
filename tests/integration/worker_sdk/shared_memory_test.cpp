// Sums through memory that the ranks share: the same results as through sockets, and the same care
// where a rank fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/integration/worker_sdk/job.h"

namespace ddp::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr int kDdpError = 3;

// Which ranks ask for it.
Environment asked_by(const std::string& ranks) {
  return {{"DDP_TEST_SHARED_MEMORY", ranks}};
}

std::vector<Ended> run_sharing(int world_size, const std::string& scenario) {
  return run_ranks(world_size, scenario, asked_by("0 1 2 3"));
}

std::string without_first_line(const std::string& text) {
  return text.substr(text.find('\n') + 1);
}

class SameBitsTest : public testing::TestWithParam<const char*> {};

TEST_P(SameBitsTest, AsThroughSockets) {
  const auto sharing = run_sharing(2, GetParam());
  const auto plain = run_ranks(2, GetParam());
  for (const std::size_t rank : {0u, 1u}) {
    EXPECT_EQ(sharing[rank].exit_code, 0) << describe(sharing);
    EXPECT_THAT(sharing[rank].out, StartsWith("shared memory\n"));
    EXPECT_THAT(plain[rank].out, StartsWith("sockets\n"));
    EXPECT_EQ(without_first_line(sharing[rank].out), without_first_line(plain[rank].out));
  }
  EXPECT_EQ(without_first_line(sharing[0].out), without_first_line(sharing[1].out));
}

INSTANTIATE_TEST_SUITE_P(Each, SameBitsTest, testing::Values("shared_sums", "shared_training"),
                         [](const auto& chosen) { return std::string(chosen.param); });

TEST(SharedMemory, GivesFourRanksTheSameBits) {
  const auto ranks = run_sharing(4, "shared_training");
  for (const Ended& rank : ranks) {
    EXPECT_EQ(rank.exit_code, 0) << describe(ranks);
    EXPECT_EQ(rank.out, ranks[0].out);
    EXPECT_THAT(rank.out, StartsWith("shared memory\n"));
  }
}

TEST(SharedMemory, HoldsUpNobodyWhoDoesNotWait) {
  const auto ranks = run_sharing(2, "shared_crossed");
  EXPECT_EQ(ranks[0].out, "shared memory\nsum 3\n") << describe(ranks);
  EXPECT_EQ(ranks[1].out, "shared memory\nheard 5\nsum 3\n");
}

TEST(SharedMemory, ServesSubGroups) {
  const auto ranks = run_sharing(3, "shared_sub_group");
  EXPECT_EQ(ranks[0].out, "shared memory\nouter 4\nall 10\n") << describe(ranks);
  EXPECT_EQ(ranks[1].out, "shared memory\nouter 2\nall 10\n");
  EXPECT_EQ(ranks[2].out, "shared memory\nouter 4\nall 10\n");
}

TEST(SharedMemory, IsNotUsedWhereARankDoesNotAskForIt) {
  const auto ranks = run_ranks(3, "shared_sub_group", asked_by("0 2"));
  for (const Ended& rank : ranks) {
    EXPECT_EQ(rank.exit_code, 0) << describe(ranks);
    EXPECT_THAT(rank.out, StartsWith("sockets\n"));
  }
  EXPECT_THAT(ranks[0].err, HasSubstr("ddp: all_reduce goes through sockets and not shared memory: "
                                      "rank 1 does not ask for it"));
  EXPECT_THAT(ranks[2].err, Not(HasSubstr("ddp: ")));
}

TEST(SharedMemory, TellsTensorsOfDifferentSizes) {
  const auto ranks = run_sharing(2, "shared_sizes");
  for (const Ended& rank : ranks) EXPECT_EQ(rank.exit_code, kDdpError) << describe(ranks);
  EXPECT_THAT(ranks[0].err, HasSubstr("[rank 0] all_reduce failed: rank 1 has 4 numbers (float) "
                                      "and rank 0 has 3 numbers (float)"));
  EXPECT_THAT(ranks[1].err, HasSubstr("[rank 1] all_reduce failed: rank 0 has 3 numbers (float) "
                                      "and rank 1 has 4 numbers (float)"));
}

TEST(SharedMemory, NoticesThatARankHasLeftTheGroup) {
  const auto ranks = run_sharing(2, "shared_left");
  EXPECT_EQ(ranks[0].exit_code, kDdpError) << describe(ranks);
  EXPECT_THAT(ranks[0].err, HasSubstr("rank 1 has ended or left the group"));
}

std::string scenario_name(const testing::TestParamInfo<const char*>& chosen) {
  return chosen.param;
}

class SharedMemoryKilledTest : public testing::TestWithParam<const char*> {};

TEST_P(SharedMemoryKilledTest, IsNamed) {
  const auto ranks = run_sharing(4, GetParam());
  EXPECT_EQ(ranks[1].signal, SIGKILL);
  for (const std::size_t rank : {0u, 2u, 3u}) {
    EXPECT_EQ(ranks[rank].exit_code, 1) << describe(ranks);
    EXPECT_THAT(ranks[rank].err, AnyOf(HasSubstr("rank 1 has ended or left the group"),
                                       HasSubstr("The first one: rank 1 was lost")));
  }
}

INSTANTIATE_TEST_SUITE_P(Each, SharedMemoryKilledTest,
                         testing::Values("killed_in_training", "killed_in_backward"),
                         scenario_name);

TEST(SharedMemory, NamesTheRankThatThrew) {
  const auto ranks = run_sharing(3, "throw_in_backward");
  for (const std::size_t rank : {0u, 2u}) {
    EXPECT_EQ(ranks[rank].exit_code, 1) << describe(ranks);
    EXPECT_THAT(ranks[rank].err, HasSubstr("The first one: rank 1 ended with "));
    EXPECT_THAT(ranks[rank].err, HasSubstr("my backward is broken"));
  }
}

class SharedMemoryHungTest : public testing::TestWithParam<const char*> {};

TEST_P(SharedMemoryHungTest, IsNamed) {
  std::vector<Child> children;
  const StoreHost store;
  for (int rank = 0; rank < 3; ++rank) {
    Environment environment = rank_environment(rank, 3, store.port());
    environment.merge(asked_by("0 1 2"));
    children.emplace_back(std::vector<std::string>{DDPRUN_TEST_WORKER, GetParam()}, environment);
  }
  for (const std::size_t rank : {0u, 2u}) {
    const Ended ended = children[rank].wait(in(std::chrono::seconds(60)));
    EXPECT_EQ(ended.exit_code, 1) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("all_reduce failed: waited 3.0 s in vain. Rank 1 does not "
                                     "take part: it hangs, "));
  }
}

INSTANTIATE_TEST_SUITE_P(Each, SharedMemoryHungTest,
                         testing::Values("hung_in_training", "hung_in_backward"), scenario_name);

TEST(SharedMemory, ServesAsynchronousOperations) {
  const auto sharing = run_sharing(2, "asynchronous");
  const auto plain = run_ranks(2, "asynchronous");
  for (const std::size_t rank : {0u, 1u}) {
    EXPECT_EQ(sharing[rank].exit_code, 0) << describe(sharing);
    EXPECT_EQ(sharing[rank].out, plain[rank].out);
  }
}

TEST(SharedMemory, IsNotAskedForWhereGlooConnectsLater) {
  Environment environment = asked_by("0 1");
  environment["TORCH_GLOO_LAZY_INIT"] = "1";
  const auto ranks = run_ranks(2, "shared_crossed", environment);
  EXPECT_EQ(ranks[0].out, "sockets\nsum 3\n") << describe(ranks);
}

}  // namespace
}  // namespace ddp::test
