// A busy server, and many who mean no good: the ranks of its jobs are not disturbed, and its memory
// is bounded. With a token, and with a token and TLS.
#include <gmock/gmock.h>

#include <deque>
#include <optional>

#include "rendezvous/client/connection.h"
#include "rendezvous/guard/tls.h"
#include "tests/integration/guard/secrets.h"
#include "tests/integration/multi_node/nodes.h"
#include "tests/integration/rdzvd/real_rdzvd.h"
#include "tests/support/certificates.h"

namespace ddprun::test {
namespace {

using server::RawClient;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

const std::string kSecret = "the-secret-of-this-test-0123456789";
const std::string kEndless = "GET / HTTP/1.1\r\nX: " + std::string(15'000, 'x');
constexpr std::chrono::seconds kLimit{60};

class Crowd : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    allow_files(8'192);
    if (!GetParam()) return;
    certificates_.emplace().make("server", "DNS:localhost,IP:127.0.0.1");
    own_ = {"--tls-cert", certificates_->cert("server"), "--tls-key", certificates_->key("server")};
    keys_ = {"--tls-ca", certificates_->ca()};
    tls_ = guard::Tls::client({.ca = certificates_->ca()}, "127.0.0.1").value();
  }

  static Words both(Words one, const Words& other) {
    one.insert(one.end(), other.begin(), other.end());
    return one;
  }
  Words keys(const std::string& token) const { return both(keys_, {"--token-file", token}); }
  void serve(const Words& options) {
    server_.emplace(both(both(options, own_), {"--token-file", token_}));
  }

  // All from an address of their own.
  RawClient& stranger(const std::string& bytes, std::uint16_t port) {
    crowd_.emplace_back().connect_from("127.0.0.2", port);
    crowd_.back().send(bytes);
    return crowd_.back();
  }
  RawClient& stranger(const std::string& bytes) { return stranger(bytes, server_->port()); }
  // Knows the token, and does not read the page that it asks for.
  void read_slowly() {
    const auto soon = client::Clock::now() + std::chrono::seconds(20);
    auto reader = client::Connection::open("127.0.0.1", server_->port(), soon, "it");
    ASSERT_TRUE(reader);
    ASSERT_TRUE(!tls_ || reader->secure(tls_, soon));
    ASSERT_TRUE(reader->send(
        "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + kSecret + "\r\n\r\n", soon));
    readers_.push_back(std::move(*reader));
  }
  Finished status(const std::string& token) const {
    return run(both({DDPRUN_RDZVCTL, "--endpoint", server_->address(), "status"}, keys(token)));
  }
  // An old version of TLS is offered, and no new one.
  void scan(const std::string& version) const {
    EXPECT_NE(run_shell("openssl s_client -" + version + " -cipher ALL:@SECLEVEL=0 -connect " +
                        server_->address() + " </dev/null")
                  .code,
              0)
        << version;
  }

  std::unique_ptr<Program> node(const Words& command, int nodes = 2) const {
    return start(both({"--nnodes", std::to_string(nodes), "--rdzv-backend", "c10d",
                       "--rdzv-endpoint", server_->address(), "--rdzv-id", "job", "--max-restarts",
                       "1", "--restart-backoff", "0"},
                      keys(token_)),
                 command, {.limit = kLimit});
  }
  // Works until go() and fails then; started again, it meets the others in their store.
  Words work() const {
    return shell(
        "echo up $TORCHELASTIC_RESTART_COUNT; if [ $TORCHELASTIC_RESTART_COUNT = 1 ]; then "
        "exec " DDPRUN_TEST_STORE_MEETING
        " \"$MASTER_ADDR\" \"$MASTER_PORT\" \"$RANK\" 2; fi; while [ ! -e " +
        go_ + " ]; do sleep 0.02; done; exit 3");
  }
  void go() const { EXPECT_EQ(run_shell("touch " + go_).code, 0); }
  // The ranks ran once before go(), met after it, and nobody has lost the server.
  static void expect_undisturbed(Program& node) {
    const Finished end = node.finish();
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_EQ(count_of("up 0", end.out), 1);
    EXPECT_EQ(count_of("up 1", end.out), 1);
    EXPECT_THAT(end.out, HasSubstr("met 2"));
    EXPECT_THAT(end.err, Not(HasSubstr("lost the rendezvous")));
  }

  const Secrets secrets_;
  const std::string token_ = secrets_.file("token", kSecret);
  const std::string wrong_ = secrets_.file("wrong", "a-wrong-token-of-many-letters");
  const std::string go_ = secrets_.folder() / "go";
  std::optional<Certificates> certificates_;
  Words own_, keys_;
  std::shared_ptr<guard::Tls> tls_;
  std::optional<RealRdzvd> server_;
  std::deque<RawClient> crowd_;
  std::deque<client::Connection> readers_;
};

INSTANTIATE_TEST_SUITE_P(, Crowd, testing::Bool(),
                         [](const auto& with) { return with.param ? "WithTls" : "WithAToken"; });

TEST_P(Crowd, ScansAndGuessesDisturbNoJob) {
  serve({"--max-memory", "64M"});
  const auto a = node(work());
  const auto b = node(work());
  ASSERT_TRUE(a->wait_for_output("up 0") && b->wait_for_output("up 0"));
  const long before = server_->resident();
  for (int i = 0; i < 400; ++i) {
    stranger("");                                  // a port scan, with the connection kept
    stranger("\x16\x03\x01\x02\x10\x01\x00\x02");  // a TLS scan
    stranger("SSH-2.0-scanner\r\n");
    stranger(kEndless);
    stranger("DDPR");
  }
  for (int i = 0; i < 50; ++i) read_slowly();
  for (const char* version : {"tls1", "tls1_1", "tls1_2"}) scan(version);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(status(wrong_).code, 1);
  EXPECT_THAT(get_page(server_->port(), "/healthz"), HasSubstr("ok\n"));
  const Finished known = status(token_);
  EXPECT_EQ(known.code, 0) << known.err;
  EXPECT_THAT(known.out, HasSubstr("run job"));
  const long more = server_->resident() - before;
  EXPECT_LT(more, 128 << 10) << "kilobytes for 2,000 connections";
  RecordProperty("more_kb", static_cast<int>(more));
  go();
  expect_undisturbed(*a);
  expect_undisturbed(*b);
  EXPECT_THAT(lines(server_->stop().err), SizeIs(testing::Lt(200u))) << "few lines";
}

TEST_P(Crowd, OneAddressCannotTakeAllConnections) {
  serve({"--max-connections", "20"});
  for (int i = 0; i < 30; ++i) stranger(kEndless);
  EXPECT_TRUE(crowd_.back().is_closed());
  const auto a = node({"true"});
  const auto b = node({"true"});
  EXPECT_EQ(a->finish().code, 0);
  EXPECT_EQ(b->finish().code, 0);
  ASSERT_TRUE(server_->program().wait_for_error("its address has 10 already"));
}

TEST_P(Crowd, WhoSaysNothingMakesRoomForWhoDoes) {
  serve({"--max-per-address", "10"});
  for (int i = 0; i < 20; ++i) stranger("");
  EXPECT_TRUE(crowd_.front().is_closed()) << "the oldest";
  EXPECT_THAT(stranger("GET /healthz HTTP/1.1\r\n\r\n").receive_all(), HasSubstr("ok\n"));
  ASSERT_TRUE(server_->program().wait_for_error("more than 5 such connections"));
}

// As behind NAT: whoever is closed for another one comes again.
TEST_P(Crowd, MoreNodesOfOneAddressMeetThanMayBeUnfinished) {
  serve({"--max-unfinished-per-address", "1"});
  std::deque<std::unique_ptr<Program>> nodes;
  for (int i = 0; i < 6; ++i) nodes.push_back(node({"true"}, 6));
  for (const auto& each : nodes) {
    const Finished end = each->finish();
    EXPECT_EQ(end.code, 0) << end.err;
  }
}

// Node 0 has descriptors for its workers and for the nodes, whoever else comes.
TEST_P(Crowd, TheServerOfAJobKeepsRoomForItsOwn) {
  const std::string port = free_port();
  const auto fixed = [&](int rank) {
    const Words words =
        ddprun_words(both(both(both({"--nnodes", "2", "--node-rank", std::to_string(rank),
                                     "--master-addr", "127.0.0.1", "--master-port", port,
                                     "--max-restarts", "1", "--restart-backoff", "0"},
                                    keys(token_)),
                               own_),
                          both({"--"}, work())));
    return std::make_unique<Program>(
        both({"/bin/sh", "-c", "ulimit -n 400; exec \"$@\"", "sh"}, words),
        RunOptions{.limit = kLimit});
  };
  const auto a = fixed(0);
  const auto b = fixed(1);
  ASSERT_TRUE(a->wait_for_output("up 0") && b->wait_for_output("up 0"));
  for (int i = 0; i < 500; ++i) stranger(kEndless, static_cast<std::uint16_t>(std::stoi(port)));
  EXPECT_TRUE(crowd_.back().is_closed());
  go();
  expect_undisturbed(*a);
  expect_undisturbed(*b);
}

}  // namespace
}  // namespace ddprun::test
