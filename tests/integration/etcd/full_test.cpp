// An etcd that is full: it renews leases and takes no writes.
#include <fstream>

#include "tests/integration/etcd/several_rdzvd.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;

class FullEtcd : public SeveralRdzvd {
 protected:
  static void SetUpTestSuite() {
    if (RealEtcd::why_not().empty())
      etcd_ = std::make_unique<RealEtcd>(std::chrono::seconds(300),
                                         Words{"--quota-backend-bytes", "8000000"});
  }
  // Until it takes no more.
  void fill() {
    const std::string file = folder_ / "value";
    std::ofstream(file) << std::string(1'000'000, 'x');
    const std::string key = "/elsewhere";
    EXPECT_THROW(
        {
          for (int i = 0; i < 100; ++i) etcd_->control({"put", key + std::to_string(i)}, file);
        },
        std::runtime_error);
  }
  void make_room() {
    etcd_->control({"del", "--prefix", "/elsewhere"});
    etcd_->compact();
    etcd_->control({"defrag"});
    etcd_->control({"alarm", "disarm"});
  }
};

TEST_F(FullEtcd, NoJobIsLostAndAllGoOnWhenItHasRoom) {
  start_two();
  const Words soon{"--rdzv-conf", "keep_alive_interval=0.5,keep_alive_max_attempt=4"};
  const auto a = node(wait_, soon);
  const auto b = node(wait_, soon);
  ASSERT_TRUE(a->wait_for_output("up 0"));
  ASSERT_TRUE(b->wait_for_output("up 0"));
  fill();
  // Some whose coming has to be written.
  const Words another{"--rdzv-id", "another"};
  const auto c = node("true", another);
  const auto d = node("true", another);
  EXPECT_TRUE(rdzvd(0).wait_for_error("a write waits for etcd: "));
  EXPECT_TRUE(rdzvd(0).wait_for_error("not the head any more: etcd takes no writes: "));
  EXPECT_TRUE(rdzvd(0).wait_for_error("space exceeded"));
  EXPECT_TRUE(a->wait_for_error("no head now: "));
  make_room();
  EXPECT_TRUE(a->wait_for_error("found the rendezvous at"));
  EXPECT_TRUE(b->wait_for_error("found the rendezvous at"));
  release();
  expect_success(*a, "up 0\n");
  expect_success(*b, "up 0\n");
  EXPECT_EQ(c->finish().code, 0);
  EXPECT_EQ(d->finish().code, 0);
}

}  // namespace
}  // namespace ddprun::test
