// Several rdzvds that are one, and jobs that meet there.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "tests/integration/etcd/real_etcd.h"
#include "tests/integration/multi_node/nodes.h"

namespace ddprun::test {

// One etcd for all tests of a program. Each test has a prefix, rdzvds and ports of its own.
class SeveralRdzvd : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (RealEtcd::why_not().empty()) etcd_ = std::make_unique<RealEtcd>();
  }
  static void TearDownTestSuite() { etcd_.reset(); }
  void SetUp() override {
    if (!etcd_) GTEST_SKIP() << RealEtcd::why_not();
    ASSERT_TRUE(etcd_->is_healthy());
    prefix_ =
        std::string("/") + testing::UnitTest::GetInstance()->current_test_info()->name() + "/";
  }

  // The next rdzvd; the first one is the head.
  void start_rdzvd(const Words& options = {}) {
    ports_.push_back(free_port());
    rdzvds_.emplace_back();
    start_again(rdzvds_.size() - 1, options);
    const char* role =
        rdzvds_.size() == 1 ? "is the head now" : "standing by: the head is rdzvd at";
    ASSERT_TRUE(rdzvds_.back()->wait_for_error(role));
  }
  void start_again(std::size_t number, const Words& options = {}) {
    Words words{DDPRUN_RDZVD,
                "--listen",
                "127.0.0.1:" + ports_[number],
                "--state",
                etcd_->place(prefix_),
                "--state-lease",
                "2"};
    words.insert(words.end(), options.begin(), options.end());
    rdzvds_[number] =
        std::make_unique<Program>(words, RunOptions{.limit = std::chrono::seconds(60)});
    ASSERT_TRUE(rdzvds_[number]->wait_for_output("\n"));
  }
  void start_two() {
    start_rdzvd();
    start_rdzvd();
  }
  Program& rdzvd(std::size_t number) { return *rdzvds_[number]; }
  void end(std::size_t number, int signo = SIGKILL) {
    ::kill(rdzvd(number).pid(), signo);
    rdzvd(number).wait_for_end();
  }
  bool becomes_head(std::size_t number) { return rdzvd(number).wait_for_error("is the head now"); }

  std::string endpoint(std::size_t number) const { return "127.0.0.1:" + ports_[number]; }
  std::string endpoints() const {
    std::string all;
    for (std::size_t i = 0; i < ports_.size(); ++i) all += (i == 0 ? "" : ",") + endpoint(i);
    return all;
  }

  std::unique_ptr<Program> node(const std::string& script, const Words& options = {},
                                const std::string& where = {}) {
    Words words{"--nnodes",          "2",
                "--rdzv-backend",    "c10d",
                "--rdzv-endpoint",   where.empty() ? endpoints() : where,
                "--rdzv-id",         "job",
                "--restart-backoff", "0"};
    words.insert(words.end(), options.begin(), options.end());
    return start(words, shell(script), RunOptions{.limit = std::chrono::seconds(40)});
  }
  // Lets the workers go on that wait in this attempt.
  void release(int attempt = 0) {
    ASSERT_EQ(run_shell("touch " + go_ + std::to_string(attempt)).code, 0);
  }
  static void expect_success(Program& node, const std::string& out) {
    const Finished end = node.finish();
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_EQ(end.out, out) << end.err;
  }

  static inline std::unique_ptr<RealEtcd> etcd_;
  const TemporaryFolder folder_;
  const std::string go_ = folder_ / "go";
  const std::string wait_ = "echo up $TORCHELASTIC_RESTART_COUNT; while [ ! -e " + go_ +
                            "$TORCHELASTIC_RESTART_COUNT ]; do sleep 0.02; done; ";
  std::string prefix_;
  Words ports_;
  std::vector<std::unique_ptr<Program>> rdzvds_;
};

}  // namespace ddprun::test
