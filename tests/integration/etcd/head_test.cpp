// The head of several rdzvds is killed, stopped or ended in each phase of a job.
#include "tests/integration/etcd/several_rdzvd.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class LosingTheHead : public SeveralRdzvd {
 protected:
  void run_on_two(const std::string& script, const Words& options = {}) {
    start_two();
    a_ = node(script, options);
    b_ = node(script, options);
    ASSERT_TRUE(a_->wait_for_output("up 0"));
    ASSERT_TRUE(b_->wait_for_output("up 0"));
  }
  bool both_say(const std::string& text) {
    return a_->wait_for_error(text) && b_->wait_for_error(text);
  }
  std::unique_ptr<Program> a_, b_;
};

TEST_F(LosingTheHead, WhileNodesJoin) {
  start_two();
  a_ = node(wait_);
  ASSERT_TRUE(rdzvd(0).wait_for_error("welcome to"));
  end(0);
  b_ = node(wait_);
  EXPECT_TRUE(becomes_head(1));
  release();
  expect_success(*a_, "up 0\n");
  expect_success(*b_, "up 0\n");
}

// Whether the nodes had heard of the round before is a matter of microseconds.
TEST_F(LosingTheHead, WhileARoundForms) {
  start_two();
  a_ = node(wait_);
  b_ = node(wait_);
  ASSERT_TRUE(rdzvd(0).wait_for_error("assignment to"));
  end(0);
  EXPECT_TRUE(becomes_head(1));
  release();
  for (Program* node : {a_.get(), b_.get()}) {
    const Finished end = node->finish();
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_THAT(end.out, Not(HasSubstr("up 1"))) << "no restart is spent";
  }
}

TEST_F(LosingTheHead, WhileWorkersRun) {
  run_on_two(wait_);
  end(0);
  EXPECT_TRUE(both_say("found the rendezvous at " + endpoints() + " again"));
  release();
  expect_success(*a_, "up 0\n");
  expect_success(*b_, "up 0\n");
  EXPECT_TRUE(rdzvd(1).wait_for_error("closed to"));
}

TEST_F(LosingTheHead, WhileWorkersAreRestarted) {
  const std::string fails_first = wait_ + "[ $RANK$TORCHELASTIC_RESTART_COUNT != 10 ] || exit 7";
  run_on_two(fails_first, {"--max-restarts", "1"});
  release();
  ASSERT_TRUE(rdzvd(0).wait_for_error("restart to"));
  end(0);
  release(1);
  expect_success(*a_, "up 0\nup 1\n");
  expect_success(*b_, "up 0\nup 1\n");
}

TEST_F(LosingTheHead, AndAFailureIsStillTheSameForAll) {
  run_on_two(wait_ + "[ $RANK = 0 ] || exit 7");
  end(0);
  release();
  for (Program* node : {a_.get(), b_.get()}) {
    const Finished end = node->finish();
    EXPECT_EQ(end.code, 7) << end.err;
    EXPECT_THAT(end.err, HasSubstr("rank 1 failed first: exit code 7"));
  }
}

TEST_F(LosingTheHead, AgainAndAgainWithOnesThatComeBack) {
  run_on_two(wait_);
  for (const std::size_t head : {0u, 1u, 0u}) {
    end(head);
    ASSERT_TRUE(becomes_head(1 - head));
    start_again(head);
  }
  release();
  expect_success(*a_, "up 0\n");
  expect_success(*b_, "up 0\n");
}

TEST_F(LosingTheHead, ByItsOwnWillIsQuick) {
  run_on_two(wait_);
  ::kill(rdzvd(0).pid(), SIGTERM);
  const Finished head = rdzvd(0).finish();
  EXPECT_EQ(head.code, 0) << head.err;
  EXPECT_TRUE(both_say("found the rendezvous at"));
  release();
  const Finished end = a_->finish();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(line_with(end.err, "ddprun: lost the rendezvous"), HasSubstr("SIGTERM"));
  expect_success(*b_, "up 0\n");
}

// It was the head when it was stopped, and must not be when it goes on: neither for those who are
// connected still, nor for those who come.
TEST_F(LosingTheHead, AHeadThatWasStoppedForLongerThanItsLeaseIsNone) {
  run_on_two(wait_, {"--rdzv-conf", "keep_alive_interval=0.5,keep_alive_max_attempt=4"});
  ::kill(rdzvd(0).pid(), SIGSTOP);
  ASSERT_TRUE(comes_to_state(rdzvd(0).pid(), 'T'));
  ASSERT_TRUE(becomes_head(1));
  EXPECT_TRUE(both_say("found the rendezvous at"));
  ::kill(rdzvd(0).pid(), SIGCONT);
  EXPECT_TRUE(rdzvd(0).wait_for_error("not the head any more: "));
  EXPECT_TRUE(rdzvd(0).wait_for_error("standing by: the head is rdzvd at " + endpoint(1)));
  const Finished late = run({DDPRUN_RDZVCTL, "--endpoint", endpoint(0), "status", "job"});
  EXPECT_EQ(late.code, 0) << late.err;
  EXPECT_THAT(late.out, HasSubstr("running")) << "it is the new one that answers";
  release();
  expect_success(*a_, "up 0\n");
  expect_success(*b_, "up 0\n");
}

TEST_F(LosingTheHead, WhoeverKnowsOnlyOneThatStandsByIsLedToTheHead) {
  start_two();
  a_ = node("true", {}, endpoint(1));
  b_ = node("true", {}, endpoint(1));
  EXPECT_EQ(a_->finish().code, 0);
  EXPECT_EQ(b_->finish().code, 0);
  const Finished page =
      run_shell("exec 3<>/dev/tcp/127.0.0.1/" + ports_[1] +
                "; printf 'GET /api/v1/runs?x HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3; cat <&3");
  EXPECT_THAT(page.out, HasSubstr("307 Temporary Redirect"));
  EXPECT_THAT(page.out, HasSubstr("Location: http://" + endpoint(0) + "/api/v1/runs?x\r\n"));
}

// It takes connections and says nothing, as one does whose host is gone.
TEST_F(LosingTheHead, RdzvctlPassesOverOneThatIsSilent) {
  start_two();
  ::kill(rdzvd(1).pid(), SIGSTOP);
  ASSERT_TRUE(comes_to_state(rdzvd(1).pid(), 'T'));
  const Finished asked =
      run({DDPRUN_RDZVCTL, "--endpoint", endpoint(1) + "," + endpoint(0), "status"});
  EXPECT_EQ(asked.code, 0) << asked.err;
}

TEST_F(LosingTheHead, NothingIsLeftInEtcdOfAJobThatIsLongOver) {
  start_two();
  const Words soon{"--rdzv-conf",
                   "reconnect_timeout=0.5,keep_alive_interval=0.5,keep_alive_max_attempt=3"};
  a_ = node("true", soon);
  b_ = node("true", soon);
  EXPECT_EQ(a_->finish().code, 0);
  EXPECT_EQ(b_->finish().code, 0);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (etcd_->count_keys(prefix_) > 1 && std::chrono::steady_clock::now() < until) {
  }
  EXPECT_EQ(etcd_->count_keys(prefix_), 1) << "the head's own";
}

}  // namespace
}  // namespace ddprun::test
