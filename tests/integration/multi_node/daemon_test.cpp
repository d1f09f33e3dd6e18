// Jobs that meet at a real rdzvd, which is killed, stopped and started again under them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/integration/multi_node/nodes.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kWorker = DDPRUN_TEST_WORKER;

// On a port that stays the same.
class Daemon {
 public:
  explicit Daemon(std::string port) : port_(std::move(port)) { start(); }

  void start() {
    program_ = std::make_unique<Program>(
        Words{DDPRUN_RDZVD, "--listen", "127.0.0.1:" + port_, "--log-level", "debug"});
    ASSERT_TRUE(program_->wait_for_output("\n"));
  }
  void end(int signo) {
    ::kill(program_->pid(), signo);
    program_->finish();
  }

 private:
  std::string port_;
  std::unique_ptr<Program> program_;
};

// Two nodes, with given ranks or by arrival.
class DaemonTest : public testing::TestWithParam<bool> {
 protected:
  void begin(const std::string& script, const Words& more = {}) {
    Words options{"--rdzv-id", "job", "--restart-backoff", "0"};
    options.insert(options.end(), more.begin(), more.end());
    if (GetParam()) {
      const FixedJob job(2, options);
      daemon_ = std::make_unique<Daemon>(job.port());
      first_ = job.node(0, shell(script));
      second_ = job.node(1, shell(script));
    } else {
      const ArrivalJob job("2", options);
      daemon_ = std::make_unique<Daemon>(job.port());
      first_ = job.node(shell(script));
      second_ = job.node(shell(script));
    }
    ASSERT_TRUE(first_->wait_for_output("up 0"));
    ASSERT_TRUE(second_->wait_for_output("up 0"));
  }
  bool both_say(const std::string& text) {
    return first_->wait_for_error(text) && second_->wait_for_error(text);
  }
  void lose(int signo = SIGKILL) {
    daemon_->end(signo);
    ASSERT_TRUE(both_say("lost the rendezvous at 127.0.0.1:"));
  }
  void find_again() {
    daemon_->start();
    ASSERT_TRUE(both_say("found the rendezvous at 127.0.0.1:"));
  }
  // Lets the workers go on that wait in this attempt.
  void release(int attempt = 0) {
    ASSERT_EQ(run_shell("touch " + go_ + std::to_string(attempt)).code, 0);
  }

  const TemporaryFolder folder_;
  const std::string go_ = folder_ / "go";
  const std::string wait_ = "echo up $TORCHELASTIC_RESTART_COUNT; while [ ! -e " + go_ +
                            "$TORCHELASTIC_RESTART_COUNT ]; do sleep 0.02; done; ";
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<Program> first_, second_;
};

TEST_P(DaemonTest, WorkersGoOnWhileItIsAwayAndTheJobEndsWell) {
  begin(wait_ + "exit 0");
  lose();
  find_again();
  release();
  for (const auto& node : {first_.get(), second_.get()}) {
    const Finished end = node->finish();
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_EQ(end.out, "up 0\n");
  }
}

TEST_P(DaemonTest, ItMayBeLostAgainAndAgain) {
  begin(wait_ + "exit 0");
  lose();
  find_again();
  daemon_->end(SIGKILL);
  daemon_->start();
  release();
  for (const auto& node : {first_.get(), second_.get()}) {
    const Finished end = node->finish();
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_EQ(end.out, "up 0\n");
  }
}

TEST_P(DaemonTest, ItSaysWhyItEnds) {
  begin(wait_ + "exit 0");
  lose(SIGTERM);
  find_again();
  release();
  const Finished end = first_->finish();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(line_with(end.err, "ddprun: lost the rendezvous"), HasSubstr("SIGTERM"));
  EXPECT_EQ(second_->finish().code, 0);
}

TEST_P(DaemonTest, WorkersThatEndWhileItIsAwayHaveEnded) {
  begin(wait_ + "exit 0");
  lose();
  release();
  find_again();
  EXPECT_EQ(first_->finish().code, 0);
  EXPECT_EQ(second_->finish().code, 0);
}

TEST_P(DaemonTest, AFailureWhileItIsAwayIsToldToWhoeverComesBackLater) {
  begin("echo rank $RANK; " + wait_ + "[ $RANK = 1 ] || exec sleep 60; exit 7");
  const bool first_fails = first_->out().find("rank 1") != std::string::npos;
  Program& failing = first_fails ? *first_ : *second_;
  Program& other = first_fails ? *second_ : *first_;
  lose();
  const pid_t launcher = launcher_of(other);
  ::kill(launcher, SIGSTOP);
  ASSERT_TRUE(comes_to_state(launcher, 'T'));
  release();
  daemon_->start();
  EXPECT_TRUE(failing.wait_for_error("found the rendezvous at 127.0.0.1:"));
  ::kill(launcher, SIGCONT);
  for (Program* node : {&failing, &other}) {
    const Finished end = node->finish();
    EXPECT_EQ(end.code, 7) << end.err;
    EXPECT_THAT(end.err, HasSubstr("rank 1 failed first: exit code 7"));
  }
}

TEST_P(DaemonTest, AStopSignalWhileOthersAreAwayIsToldToThemWhenTheyComeBack) {
  begin(wait_);
  lose();
  const pid_t launcher = launcher_of(*first_);
  ::kill(launcher, SIGSTOP);
  ASSERT_TRUE(comes_to_state(launcher, 'T'));
  daemon_->start();
  ASSERT_TRUE(second_->wait_for_error("found the rendezvous at 127.0.0.1:"));
  ::kill(second_->pid(), SIGTERM);
  EXPECT_EQ(second_->finish().signal, SIGTERM);
  ::kill(launcher, SIGCONT);
  const Finished end = first_->finish();
  EXPECT_EQ(end.code, 128 + SIGTERM) << end.err;
  EXPECT_THAT(end.err, HasSubstr("left: stopped by SIGTERM"));
}

TEST_P(DaemonTest, ANewRoundFollowsWithAFreshStoreAndTheOldBudget) {
  begin(kWorker + " store 3 same-keys >/dev/null || exit 9; " + wait_ +
            "[ $TORCHELASTIC_RESTART_COUNT = 0 ] || exit 0; [ $RANK = 1 ] || exec sleep 60; exit 7",
        {"--max-restarts", "1"});
  lose();
  find_again();
  release(0);
  release(1);
  for (const auto& node : {first_.get(), second_.get()}) {
    const Finished end = node->finish();
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_EQ(end.out, "up 0\nup 1\n");
  }
}

TEST_P(DaemonTest, IfItStaysAwayTheJobEnds) {
  begin(wait_ + "exit 0", {"--rdzv-conf", "reconnect_timeout=1"});
  lose();
  for (const auto& node : {first_.get(), second_.get()}) {
    const Finished end = node->finish();
    EXPECT_EQ(end.code, 125) << end.err;
    EXPECT_THAT(end.err, HasSubstr("the rendezvous is lost: "));
  }
}

TEST_P(DaemonTest, WhoDoesNotComeBackIsLost) {
  begin(wait_ + "exit 0", {"--rdzv-conf", "reconnect_timeout=2"});
  lose();
  ::kill(launcher_of(*second_), SIGKILL);
  daemon_->start();
  const Finished end = first_->finish();
  EXPECT_EQ(end.code, 125) << end.err;
  EXPECT_THAT(end.err, HasSubstr("did not come back within 2 s"));
}

INSTANTIATE_TEST_SUITE_P(Each, DaemonTest, testing::Values(true, false),
                         [](const auto& each) { return each.param ? "fixed" : "by_arrival"; });

// It was taken for lost, and comes back while another job begins under the same run id.
TEST(LateNodeTest, ItEndsAsItsOwnJobHasEndedAndTheNextOneIsNotDisturbed) {
  const FixedJob job(
      2, {"--rdzv-id", "job", "--rdzv-conf", "keep_alive_interval=1,keep_alive_max_attempt=2"});
  const Daemon daemon(job.port());
  const auto first = job.node(0, shell("echo up; exec sleep 60"));
  const auto late = job.node(1, shell("echo up; exec sleep 60"));
  ASSERT_TRUE(first->wait_for_output("up") && late->wait_for_output("up"));
  const pid_t launcher = launcher_of(*late);
  ::kill(launcher, SIGSTOP);
  ASSERT_TRUE(comes_to_state(launcher, 'T'));
  const std::string cause = "is lost: it did not answer 2 pings";
  const Finished lost = first->finish();
  EXPECT_EQ(lost.code, 125);
  EXPECT_THAT(lost.err, HasSubstr(cause));

  const auto next = job.node(0, shell("echo new"));
  ASSERT_TRUE(next->wait_for_error("node rank 1 is missing"));
  ::kill(launcher, SIGCONT);
  const Finished end = late->finish();
  EXPECT_EQ(end.code, 125);
  EXPECT_THAT(end.err, HasSubstr(cause));
  EXPECT_EQ(next->out(), "") << "it has not begun with the old node";
  const auto other = job.node(1, shell("echo new"));
  for (const auto& node : {next.get(), other.get()}) {
    const Finished well = node->finish();
    EXPECT_EQ(well.code, 0) << well.err;
    EXPECT_EQ(well.out, "new\n");
  }
}

// As when a host is lost on which rdzvd runs, too.
TEST(LateNodeTest, OneStartedAnewBesideAnewDaemonIsOfTheNextJob) {
  const FixedJob job(2, {"--rdzv-id", "job"});
  Daemon daemon(job.port());
  const auto first = job.node(0, shell("echo up; exec sleep 60"));
  const auto second = job.node(1, shell("echo up; exec sleep 60"));
  ASSERT_TRUE(first->wait_for_output("up") && second->wait_for_output("up"));
  daemon.end(SIGKILL);
  ASSERT_TRUE(first->wait_for_error("lost the rendezvous at"));
  ::kill(launcher_of(*second), SIGKILL);
  daemon.start();
  const auto anew = job.node(1, shell("echo new"));
  const Finished end = first->finish();
  EXPECT_EQ(end.code, 125);
  EXPECT_THAT(end.err, HasSubstr("another ddprun came in its place after the server was lost"));
  const auto other = job.node(0, shell("echo new"));
  for (const auto& node : {anew.get(), other.get()}) {
    const Finished well = node->finish();
    EXPECT_EQ(well.code, 0) << well.err;
    EXPECT_EQ(well.out, "new\n");
  }
}

}  // namespace
}  // namespace ddprun::test
