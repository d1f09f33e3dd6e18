// A busy daemon, and many who mean no good: the ranks of its jobs are not disturbed, and its memory
// is bounded.
#include <gmock/gmock.h>

#include <deque>

#include "rendezvous/guard/handshake.h"
#include "tests/integration/guard/secrets.h"
#include "tests/integration/multi_node/nodes.h"
#include "tests/integration/rdzvd/real_rdzvd.h"

namespace ddprun::test {
namespace {

using namespace protocol;
using server::join_of;
using server::RawAgent;
using server::RawClient;
using testing::HasSubstr;
using testing::SizeIs;

const std::string kSecret = "the-secret-of-this-test-0123456789";

class Crowd : public testing::Test {
 protected:
  // Whoever is connected from 127.0.0.1 but shall not count among those of the test's own.
  RawClient& stranger(const std::string& bytes) {
    crowd_.emplace_back();
    crowd_.back().connect_from("127.0.0.2", server_->port());
    crowd_.back().send(bytes);
    return crowd_.back();
  }
  void guess_token() {
    RawAgent agent(server_->port());
    guard::ClientHandshake handshake(guard::Token::make("a-wrong-token-of-letters", "").value());
    agent.say(handshake.challenge());
    const auto challenge = agent.await<Challenge>();
    if (challenge) agent.say(Answer{random_proof()});
    EXPECT_TRUE(agent.await<Refused>());
  }
  static std::string random_proof() { return guard::random_number(); }
  std::unique_ptr<Program> node(const std::string& script) const {
    return start({"--nnodes", "2", "--rdzv-backend", "c10d", "--rdzv-endpoint", server_->address(),
                  "--rdzv-id", "job", "--token-file", token_},
                 shell(script));
  }
  void serve(Words options = {}) {
    options.insert(options.end(), {"--token-file", token_});
    server_.emplace(options);
  }

  const Secrets secrets_;
  const std::string token_ = secrets_.file("token", kSecret);
  std::optional<RealRdzvd> server_;
  std::deque<RawClient> crowd_;
};

TEST_F(Crowd, ScansAndGuessesDisturbNoJob) {
  allow_files(8'192);
  serve();
  const std::string go = secrets_.folder() / "go";
  const std::string work = "echo up; while [ ! -e " + go + " ]; do sleep 0.02; done; echo done";
  const auto a = node(work);
  const auto b = node(work);
  ASSERT_TRUE(a->wait_for_output("up") && b->wait_for_output("up"));
  const long before = server_->resident();
  for (int i = 0; i < 500; ++i) {
    stranger("");                                  // a port scan, with the connection kept
    stranger("\x16\x03\x01\x02\x10\x01\x00\x02");  // a TLS scan
    stranger("SSH-2.0-scanner\r\n");
    stranger("GET / HTTP/1.1\r\nHost: x\r\n");  // a request without an end
    stranger("DDPR");
  }
  for (int i = 0; i < 50; ++i) guess_token();
  EXPECT_THAT(get_page(server_->port(), "/healthz"), HasSubstr("ok\n"));
  const Finished status = run(
      {DDPRUN_RDZVCTL, "--endpoint", server_->address(), "--token-file", token_, "status", "job"});
  EXPECT_EQ(status.code, 0) << status.err;
  EXPECT_LT(status.took, std::chrono::seconds(15));
  EXPECT_LT(server_->resident() - before, 64 << 10) << "kilobytes for 2,500 connections";
  EXPECT_EQ(run_shell("touch " + go).code, 0);
  for (const Finished& end : {a->finish(), b->finish()}) {
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_THAT(end.out, HasSubstr("done"));
  }
  EXPECT_THAT(lines(server_->stop().err), SizeIs(testing::Lt(200u))) << "few lines";
}

TEST_F(Crowd, OneAddressCannotTakeAllConnections) {
  serve({"--max-per-address", "10"});
  for (int i = 0; i < 10; ++i) stranger("DDPR");
  EXPECT_TRUE(stranger("DDPR").is_closed());
  EXPECT_THAT(get_page(server_->port(), "/healthz"), HasSubstr("ok\n")) << "another address";
  crowd_.clear();
  ASSERT_TRUE(server_->program().wait_for_error("its address has 10 already"));
}

TEST_F(Crowd, WhoSaysNothingMakesRoomForWhoDoes) {
  serve({"--max-unfinished-per-address", "10"});
  for (int i = 0; i < 10; ++i) stranger("");
  RawClient& eleventh = stranger("GET /healthz HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(crowd_.front().is_closed()) << "the oldest";
  EXPECT_THAT(eleventh.receive_all(), HasSubstr("ok\n"));
  ASSERT_TRUE(server_->program().wait_for_error("more than 10 such connections"));
}

}  // namespace
}  // namespace ddprun::test
