// Hosts that a real ssh does not reach, or on which it finds no ddprun.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/hosts/ssh_server.h"
#include "tests/integration/support/loopback_port.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;
using std::chrono::seconds;

class Unreachable : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = no_sshd(); !why.empty()) GTEST_SKIP() << why;
    server_ = std::make_unique<SshServer>();
  }

  Finished job(const std::string& hosts, Words options, Words rsh = {}) const {
    if (rsh.empty()) rsh = server_->rsh();
    options.insert(options.begin(), {"--hosts", hosts});
    options.insert(options.end(), rsh.begin(), rsh.end());
    options.insert(options.end(), {"sh", "-c", "echo started"});
    Finished end = ddprun(options, {.limit = seconds(60)});
    EXPECT_EQ(end.code, 125) << end.err;
    EXPECT_EQ(end.out, "");
    EXPECT_THAT(end.err, HasSubstr("nothing was started"));
    return end;
  }

  std::unique_ptr<SshServer> server_;
};

TEST_F(Unreachable, WithoutAKeyIsNeverAskedForAPassword) {
  EXPECT_THAT(job("127.0.0.2:1", {}, server_->rsh_with_wrong_key()).err,
              AllOf(HasSubstr("Permission denied (publickey"), HasSubstr("ssh-copy-id"),
                    HasSubstr("try by hand: ssh -F ")));
}

TEST_F(Unreachable, WithAnUnknownHostKeyIsNotAskedEither) {
  EXPECT_THAT(job("127.0.0.2:1", {}, server_->rsh_to_stranger()).err,
              AllOf(HasSubstr("Host key verification failed"), HasSubstr("connect once by hand")));
}

TEST_F(Unreachable, NamesEveryHostAndEachReason) {
  const LoopbackPort closed;
  const std::string port = std::to_string(closed.number());
  const auto end = job("127.0.0.2:1,127.0.0.3:1:" + port + ",no-such-host.invalid:1", {});
  EXPECT_THAT(end.err, AllOf(HasSubstr("host 127.0.0.3: ssh: connect to host 127.0.0.3 port " +
                                       port + ": Connection refused; no sshd listens there"),
                             HasSubstr("host no-such-host.invalid: ssh: Could not resolve"),
                             HasSubstr("2 of 3 hosts"), Not(HasSubstr("host 127.0.0.2:"))));
}

TEST_F(Unreachable, WithoutDdprunSaysSo) {
  EXPECT_THAT(job("127.0.0.2:1", {"--remote-ddprun", "/no/ddprun"}).err,
              HasSubstr("'/no/ddprun' cannot be started there"));
}

// A port that accepts and never says a word.
TEST_F(Unreachable, IsNotWaitedForLongerThanTheConnectTimeout) {
  LoopbackPort silent;
  silent.listen();
  const Words rsh{"--rsh", "ssh -F " + server_->path("config") + " -o ConnectTimeout=1"};
  const auto end = job("127.0.0.1:1:" + std::to_string(silent.number()), {}, rsh);
  EXPECT_THAT(end.err, HasSubstr("timed out"));
  EXPECT_LT(end.took, seconds(10));
}

TEST(WithoutSsh, IsSaid) {
  const Finished end = ddprun({"--hosts", "127.0.0.2:1", "--rsh", "/no/ssh", "true"});
  EXPECT_EQ(end.code, 125);
  EXPECT_THAT(end.err, HasSubstr("'/no/ssh'"));
}

}  // namespace
}  // namespace ddprun::test
