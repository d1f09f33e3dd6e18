// The ways to meet besides env://, and the backend with two parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "tests/integration/support/loopback_port.h"
#include "tests/integration/worker_sdk/job.h"

namespace ddp::test {
namespace {

using testing::HasSubstr;

constexpr int kDdpError = 3;  // the worker's exit code when a ddp::Error left the scenario

void expect_met(const std::vector<Ended>& ranks, const std::string& backend = "gloo") {
  for (const Ended& each : ranks) {
    EXPECT_EQ(each.exit_code, 0) << describe(ranks);
    EXPECT_EQ(each.out, backend + ": 3 30\ngroup: 3 30\n");
  }
}

TEST(InitMethod, AFileJoinsTheRanksAndIsGoneAfterwards) {
  const std::string path =
      testing::TempDir() + "ddp_init_method_" + std::to_string(getpid()) + ".store";
  std::filesystem::remove(path);
  expect_met(run_ranks(2, "meet", {{"INIT_METHOD", "file://" + path}}));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(InitMethod, AFileInNoDirectoryIsRefusedAtOnce) {
  const auto ranks = run_ranks(1, "meet", {{"INIT_METHOD", "file:///no/such/place/store"}});
  EXPECT_EQ(ranks[0].exit_code, kDdpError) << describe(ranks);
  EXPECT_THAT(ranks[0].err,
              HasSubstr("[rank 0] init_process_group: the store's file /no/such/place/store: there "
                        "is no directory /no/such/place; every rank must be able to write there"));
}

TEST(InitMethod, AFileThatCannotHoldAStoreIsRefusedAtOnce) {
  const std::string path = testing::TempDir() + "ddp_no_store_" + std::to_string(getpid());
  std::ofstream(path) << "junk junk\n";
  for (const auto& [file, why] : {std::pair<std::string, std::string>{path,
                                                                      "it holds something "
                                                                      "else; name a file"},
                                  {"/proc/store", "No such file or directory"},
                                  {"/dev/null", "it is no plain file"}}) {
    const auto ranks = run_ranks(1, "meet", {{"INIT_METHOD", "file://" + file}});
    EXPECT_EQ(ranks[0].exit_code, kDdpError) << describe(ranks);
    EXPECT_THAT(ranks[0].err,
                HasSubstr("[rank 0] init_process_group: the store's file " + file + ": " + why));
  }
  std::filesystem::remove(path);
}

// Under a launcher that has a store of its own elsewhere.
TEST(InitMethod, RankZeroHostsTheStoreOfATcpAddress) {
  std::vector<Ended> ranks;
  do {  // until the port was still free
    const int port = ddprun::test::LoopbackPort().number();
    ranks = run_ranks(2, "meet", {{"INIT_METHOD", "tcp://127.0.0.1:" + std::to_string(port)}});
  } while (ranks[0].err.find("the port is in use") != std::string::npos);
  expect_met(ranks);
}

TEST(InitMethod, ATcpAddressThatIsTheLaunchersUsesItsStore) {
  StoreHost store;
  std::vector<Child> children;
  for (int rank = 0; rank < 2; ++rank) {
    Environment environment = rank_environment(rank, 2, store.port());
    // In the URL alone.
    environment.erase("RANK");
    environment.erase("WORLD_SIZE");
    environment["INIT_METHOD"] = "tcp://127.0.0.1:" + std::to_string(store.port()) +
                                 "?rank=" + std::to_string(rank) + "&world_size=2";
    children.emplace_back(std::vector<std::string>{DDPRUN_TEST_WORKER, "meet"}, environment);
  }
  std::vector<Ended> ranks;
  for (Child& child : children) ranks.push_back(child.wait(in(std::chrono::seconds(60))));
  expect_met(ranks);
  EXPECT_TRUE(store.has("default_pg/0//cpu//0/1"));
}

TEST(InitMethod, OthersAreRefusedWithTheAcceptedForms) {
  const auto ranks = run_ranks(1, "meet", {{"INIT_METHOD", "mpi://"}});
  EXPECT_EQ(ranks[0].exit_code, kDdpError) << describe(ranks);
  EXPECT_THAT(ranks[0].err, HasSubstr("[rank 0] init_process_group: unknown init_method mpi://; "
                                      "there are env://, tcp://HOST:PORT and file:///PATH"));
}

TEST(Backend, TheOneWithTwoPartsWorksWithoutAGpu) {
  expect_met(run_ranks(2, "meet", {{"BACKEND", "cpu:gloo,cuda:nccl"}}), "cpu:gloo,cuda:nccl");
}

TEST(Backend, ItsPartForGpusIsRefusedWhereItIsAskedFor) {
  const auto ranks = run_ranks(1, "both_backends_on_a_device", {{"CUDA_VISIBLE_DEVICES", ""}});
  EXPECT_EQ(ranks[0].exit_code, kDdpError) << describe(ranks);
  EXPECT_THAT(ranks[0].err, HasSubstr("[rank 0] init_process_group: backend nccl needs a GPU and "
                                      "none is visible; use gloo"));
}

TEST(Backend, AnUnknownOneIsRefusedWithTheOthers) {
  const auto ranks = run_ranks(1, "meet", {{"BACKEND", "cpu:mpi"}});
  EXPECT_EQ(ranks[0].exit_code, kDdpError) << describe(ranks);
  EXPECT_THAT(ranks[0].err, HasSubstr("[rank 0] init_process_group: unknown backend cpu:mpi; there "
                                      "are gloo, nccl and cpu:gloo,cuda:nccl"));
}

}  // namespace
}  // namespace ddp::test
