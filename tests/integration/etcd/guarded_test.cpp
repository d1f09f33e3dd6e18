// Several rdzvds with a token and TLS: what holds for the first connection holds for the one to the
// head.
#include "tests/integration/etcd/several_rdzvd.h"
#include "tests/integration/guard/secrets.h"
#include "tests/support/certificates.h"

namespace ddprun::test {
namespace {

using testing::HasSubstr;

class GuardedHead : public SeveralRdzvd {
 protected:
  void SetUp() override {
    SeveralRdzvd::SetUp();
    if (!etcd_) return;
    certificates_.make("here", "IP:127.0.0.1");
    certificates_.make("elsewhere", "DNS:elsewhere");
    token_ = secrets_.file("token", std::string(32, 'a'));
    other_ = secrets_.file("other", std::string(32, 'b'));
  }
  Words serving(const std::string& certificate, const std::string& token) const {
    return {"--tls-cert",   certificates_.cert(certificate),
            "--tls-key",    certificates_.key(certificate),
            "--token-file", token};
  }
  Words trusting() const { return {"--tls-ca", certificates_.ca(), "--token-file", token_}; }

  const Certificates certificates_;
  const Secrets secrets_;
  std::string token_, other_;
};

TEST_F(GuardedHead, AJobGoesOnAtTheNextOne) {
  start_rdzvd(serving("here", token_));
  start_rdzvd(serving("here", token_));
  const auto a = node(wait_, trusting());
  const auto b = node(wait_, trusting(), endpoint(1));
  ASSERT_TRUE(a->wait_for_output("up 0"));
  ASSERT_TRUE(b->wait_for_output("up 0"));
  end(0);
  EXPECT_TRUE(becomes_head(1));
  EXPECT_TRUE(a->wait_for_error("found the rendezvous at"));
  release();
  expect_success(*a, "up 0\n");
  expect_success(*b, "up 0\n");
}

// Whoever is named as the head is not believed to be it.
TEST_F(GuardedHead, AHeadWithoutTheTokenIsNotTold) {
  start_rdzvd(serving("here", other_));
  start_rdzvd(serving("here", token_));
  const auto a = node("true", trusting(), endpoint(1));
  EXPECT_TRUE(a->wait_for_error("the head is to be at " + endpoint(0) + ": "));
  ::kill(a->pid(), SIGTERM);
  EXPECT_THAT(a->finish().err, HasSubstr("token"));
}

TEST_F(GuardedHead, AHeadWithAnothersCertificateIsNotTold) {
  start_rdzvd(serving("elsewhere", token_));
  start_rdzvd(serving("here", token_));
  const auto a = node("true", trusting(), endpoint(1));
  EXPECT_TRUE(a->wait_for_error("the server's certificate is not for 127.0.0.1"));
  ::kill(a->pid(), SIGTERM);
  a->finish();
}

}  // namespace
}  // namespace ddprun::test
