// Members of etcd are killed and stopped under a job.
#include "tests/integration/etcd/several_rdzvd.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;

class LosingMembers : public SeveralRdzvd {
 protected:
  void SetUp() override {
    SeveralRdzvd::SetUp();
    if (!etcd_) return;
    start_two();
    a_ = node(wait_);
    b_ = node(wait_);
    ASSERT_TRUE(a_->wait_for_output("up 0"));
    ASSERT_TRUE(b_->wait_for_output("up 0"));
  }
  void TearDown() override {
    for (int i = 0; etcd_ && i < RealEtcd::kMembers; ++i) {
      if (!etcd_->runs(i)) etcd_->start(i);
      if (!etcd_->answers(i)) etcd_->go_on(i);
    }
  }
  void end_well() {
    release();
    expect_success(*a_, "up 0\n");
    expect_success(*b_, "up 0\n");
  }
  std::unique_ptr<Program> a_, b_;
};

TEST_F(LosingMembers, ItsLeaderIsKilledAndTheJobDoesNotCare) {
  const int leader = etcd_->leader();
  ASSERT_GE(leader, 0);
  etcd_->kill(leader);
  ASSERT_TRUE(etcd_->is_healthy()) << "the two others";
  end_well();
}

TEST_F(LosingMembers, ItsMajorityIsKilledAndWorkersGoOnUntilItIsBack) {
  etcd_->kill(0);
  etcd_->kill(1);
  ASSERT_TRUE(rdzvd(0).wait_for_error("not the head any more: its lease of"));
  EXPECT_TRUE(a_->wait_for_error("the workers go on"));
  const Finished asked = run({DDPRUN_RDZVCTL, "--endpoint", endpoints(), "status"});
  EXPECT_EQ(asked.code, 1);
  EXPECT_THAT(asked.err, HasSubstr("no head now: ")) << "after its 10 s; longer than ddprun looks "
                                                        "for a daemon that is gone";
  etcd_->start(0);
  etcd_->start(1);
  EXPECT_TRUE(a_->wait_for_error("found the rendezvous at"));
  EXPECT_TRUE(b_->wait_for_error("found the rendezvous at"));
  end_well();
}

TEST_F(LosingMembers, AllAreKilledAndComeBackWithWhatTheyHad) {
  for (int i = 0; i < RealEtcd::kMembers; ++i) etcd_->kill(i);
  end(0);
  for (int i = 0; i < RealEtcd::kMembers; ++i) etcd_->start(i);
  ASSERT_TRUE(becomes_head(1));
  EXPECT_TRUE(a_->wait_for_error("found the rendezvous at"));
  end_well();
}

// It takes questions and does not answer.
TEST_F(LosingMembers, AMemberThatIsStoppedIsPassedOver) {
  etcd_->stop(0);
  end(0);
  EXPECT_TRUE(becomes_head(1));
  EXPECT_TRUE(a_->wait_for_error("found the rendezvous at"));
  etcd_->go_on(0);
  end_well();
}

}  // namespace
}  // namespace ddprun::test
