// TORCH_DISTRIBUTED_DEBUG and TORCH_DIST_INIT_BARRIER.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/worker_sdk/job.h"

namespace ddp::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kDdpError = 3;

std::vector<Ended> run_mismatch(const std::string& kind, int world_size = 2) {
  return run_ranks(world_size, "mismatch",
                   {{"MISMATCH", kind}, {"TORCH_DISTRIBUTED_DEBUG", "DETAIL"}});
}

// Both ranks say, as ddp::Error, which ranks differ and in what.
void expect_told(const std::vector<Ended>& ranks, const std::vector<const char*>& texts) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    EXPECT_EQ(ranks[rank].exit_code, kDdpError) << describe(ranks);
    EXPECT_THAT(ranks[rank].err, HasSubstr("ddp::Error: [rank " + std::to_string(rank) + "] "));
    for (const char* text : texts) EXPECT_THAT(ranks[rank].err, HasSubstr(text));
  }
}

TEST(Detail, EqualCollectivesPass) {
  for (const Ended& each : run_mismatch("none")) EXPECT_EQ(each.out, "no mismatch\n") << each.err;
}

TEST(Detail, FindsAnotherShape) {
  expect_told(run_mismatch("shape"), {"Rank 0", "Rank 1", "ALLREDUCE", "[2]", "[3]"});
}

TEST(Detail, FindsAnotherType) {
  expect_told(run_mismatch("type"), {"Rank 0", "Rank 1", "Float", "Double"});
}

TEST(Detail, FindsAnotherOperation) {
  expect_told(run_mismatch("operation"), {"Rank 0", "Rank 1", "ALLREDUCE", "BROADCAST"});
}

TEST(Detail, FindsItInBackwardToo) {
  const auto ranks = run_mismatch("backward");
  expect_told(ranks, {"Rank 0", "Rank 1", "[5]"});
  // Not "gloo", by which c10d would take it for another class and read beyond its end.
  EXPECT_EQ(ranks[0].out, "gloo, checked\n");
}

TEST(Detail, SpeaksOfGlobalRanksInAGroup) {
  auto ranks = run_mismatch("group", 3);
  for (const std::size_t rank : {1u, 2u}) {
    EXPECT_EQ(ranks[rank].exit_code, kDdpError) << describe(ranks);
    EXPECT_THAT(ranks[rank].err, HasSubstr("Rank 1 is running"));
    EXPECT_THAT(ranks[rank].err, HasSubstr("Rank 2 is running"));
  }
}

// Those who look have met in the store under this key; the program is the same in both cases.
TEST(Debug, OnlyWithDetailDoesAnybodyLook) {
  for (const bool detail : {true, false}) {
    StoreHost store;
    std::vector<Child> children;
    for (int rank = 0; rank < 2; ++rank) {
      Environment environment = rank_environment(rank, 2, store.port());
      environment["MISMATCH"] = "none";
      if (detail) environment["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL";
      children.emplace_back(std::vector<std::string>{DDPRUN_TEST_WORKER, "mismatch"}, environment);
    }
    for (Child& child : children) {
      const Ended ended = child.wait(in(std::chrono::seconds(60)));
      EXPECT_EQ(ended.exit_code, 0) << ended.err;
    }
    EXPECT_EQ(store.has("default_pg/0//cpu//pg_wrapper:0/0/1"), detail);
  }
}

// Python's keys, also those of the groups to which not all ranks belong.
TEST(InitBarrier, IsPythonsAndAllRanksTakePart) {
  StoreHost store;
  std::vector<Child> children;
  for (int rank = 0; rank < 3; ++rank) {
    Environment environment = rank_environment(rank, 3, store.port());
    environment["TORCH_DIST_INIT_BARRIER"] = "1";
    environment["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL";
    children.emplace_back(std::vector<std::string>{DDPRUN_TEST_WORKER, "groups"}, environment);
  }
  for (Child& child : children) EXPECT_EQ(child.wait(in(std::chrono::seconds(60))).exit_code, 0);
  for (const char* key :
       {"default_pg/store_based_barrier_key:0:last_worker",
        "default_pg/0//store_based_barrier_key:1:last_worker",
        "default_pg/0//store_based_barrier_key:2:last_worker",
        "default_pg/0//cpu//pg_wrapper:0/0/2", "default_pg/0//1//cpu//pg_wrapper:1/0/1"}) {
    EXPECT_TRUE(store.has(key)) << key;
  }
}

TEST(InitBarrier, NamesTheRanksThatDidNotCome) {
  const StoreHost store;
  std::vector<Child> children;
  for (int rank = 0; rank < 3; ++rank) {
    Environment environment = rank_environment(rank, 3, store.port());
    environment["TORCH_DIST_INIT_BARRIER"] = "1";
    children.emplace_back(std::vector<std::string>{DDPRUN_TEST_WORKER, "barrier_in_vain"},
                          environment);
  }
  for (const int rank : {0, 2}) {
    const Ended ended = children[static_cast<std::size_t>(rank)].wait(in(std::chrono::seconds(60)));
    EXPECT_THAT(ended.err, HasSubstr("[rank " + std::to_string(rank) +
                                     "] new_group: TORCH_DIST_INIT_BARRIER: 2 of 3 ranks came in "
                                     "2.0 s; rank 1 did not: look whether"));
  }
}

}  // namespace
}  // namespace ddp::test
