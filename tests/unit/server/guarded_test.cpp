// A server with a token: who gets in, what is told, and what the log says.
#include <gmock/gmock.h>

#include <deque>
#include <filesystem>

#include "rendezvous/guard/handshake.h"
#include "rendezvous/guard/tls.h"
#include "rendezvous/guard/token.h"
#include "tests/unit/server/running_roster_server.h"

namespace ddprun::server {
namespace {

using namespace protocol;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

const std::string kToken = "one-token-of-many-letters";

std::shared_ptr<const guard::Token> token(const std::string& text = kToken) {
  return guard::Token::make(text, "test").value();
}

RosterServerOptions guarded() {
  RosterServerOptions options;
  options.token = token();
  return options;
}

// An agent that shows its token; `refused` has what it was told instead.
class TokenAgent : public RawAgent {
 public:
  TokenAgent(std::uint16_t port, const std::string& text) : RawAgent(port) {
    guard::ClientHandshake handshake(token(text));
    say(handshake.challenge());
    while (!handshake.done()) {
      const auto message = next();
      if (!message) return;
      if (const auto* why = std::get_if<Refused>(&*message)) {
        refused = why->why;
        return;
      }
      const auto step = handshake.on_message(*message);
      if (!step.say) break;
      say(*step.say);
    }
    done = handshake.done();
  }

  bool done = false;
  std::string refused;
};

std::string request_page(std::uint16_t port, const std::string& target,
                         const std::string& headers = "") {
  RawClient browser(port, false);
  browser.send("GET " + target + " HTTP/1.1\r\nHost: head\r\n" + headers + "\r\n");
  return browser.receive_all();
}

TEST(GuardedServer, AgentsThatKnowTheTokenMeet) {
  RunningRosterServer server(guarded());
  TokenAgent a(server.port(), kToken);
  TokenAgent b(server.port(), kToken);
  ASSERT_TRUE(a.done && b.done) << a.refused;
  a.say(join_of("r", "a", 2));
  b.say(join_of("r", "b", 2));
  EXPECT_TRUE(a.await<Assignment>());
  EXPECT_TRUE(b.await<Assignment>());
  EXPECT_THAT(server.warnings(), SizeIs(0));
}

TEST(GuardedServer, OthersAreRefusedWithOneLine) {
  RunningRosterServer server(guarded());
  TokenAgent wrong(server.port(), "another-token-of-many-letters");
  EXPECT_FALSE(wrong.done);
  EXPECT_THAT(wrong.refused, HasSubstr("is not this server's: give both the same one"));
  EXPECT_TRUE(wrong.is_closed());
  EXPECT_THAT(server.only_warning(), HasSubstr("refused 127.0.0.1:"));
  EXPECT_THAT(server.only_warning(), HasSubstr("its token is not this server's"));
  EXPECT_EQ(server.statistics().tokens_refused, 1u);
  EXPECT_EQ(server.statistics().runs, 0u);
}

TEST(GuardedServer, WhoeverHasNoneIsToldThatOneIsNeeded) {
  RunningRosterServer server(guarded());
  for (const AgentMessage& message :
       {AgentMessage(join_of("r", "a", 1)), AgentMessage(AskStatus{}),
        AgentMessage(AskCancel{.run = "r", .by = "me"}), AgentMessage(Answer{"00"})}) {
    RawAgent agent(server.port());
    agent.say(message);
    const auto refused = agent.await<Refused>();
    ASSERT_TRUE(refused);
    EXPECT_TRUE(agent.is_closed());
  }
  EXPECT_EQ(server.statistics().runs, 0u);
  EXPECT_EQ(server.statistics().tokens_refused, 4u);
}

TEST(GuardedServer, StrangersHoldNoMemory) {
  RunningRosterServer server(guarded());
  RawAgent agent(server.port());
  std::string frame;
  encode_frame(frame, std::string(kMaxFrameBytes, ' '));
  agent.send(frame.substr(0, frame.size() - 1));
  EXPECT_THAT(agent.await<Refused>()->why, HasSubstr("too large"));
  EXPECT_TRUE(agent.is_closed());
}

TEST(GuardedServer, ManyWrongTokensAreFewLines) {
  RunningRosterServer server(guarded());
  for (int i = 0; i < 100; ++i) TokenAgent(server.port(), "another-token-of-many-letters");
  EXPECT_EQ(server.statistics().tokens_refused, 100u);
  EXPECT_LE(server.count(Severity::warning), 20u);
}

TEST(GuardedServer, AServerWithoutATokenRefusesAgentsThatHaveOne) {
  RunningRosterServer server;
  TokenAgent agent(server.port(), kToken);
  EXPECT_FALSE(agent.done);
  EXPECT_THAT(agent.refused, HasSubstr("this server has none"));
  EXPECT_THAT(server.only_warning(), HasSubstr("it has a token, and this server has none"));
}

TEST(GuardedServer, PagesNeedTheTokenButHealthDoesNot) {
  RunningRosterServer server(guarded());
  EXPECT_THAT(request_page(server.port(), "/healthz"), EndsWith("ok\n"));
  for (const char* target : {"/", "/metrics", "/api/v1/runs", "/api/v1/runs/r", "/nothing"}) {
    const std::string refused = request_page(server.port(), target);
    EXPECT_THAT(refused, HasSubstr("HTTP/1.1 401 ")) << target;
    EXPECT_THAT(refused, Not(HasSubstr("rdzv_"))) << target;
  }
  EXPECT_EQ(server.statistics().tokens_refused, 0u) << "a browser asks without it first";
  EXPECT_THAT(
      request_page(server.port(), "/metrics", "Authorization: Bearer wrong-token-wrong\r\n"),
      HasSubstr("HTTP/1.1 401 "));
  EXPECT_EQ(server.statistics().tokens_refused, 1u);
  EXPECT_THAT(server.only_warning(), HasSubstr("refused a page to 127.0.0.1:"));
  EXPECT_THAT(server.only_warning(), Not(HasSubstr("wrong-token-wrong")));
  EXPECT_THAT(request_page(server.port(), "/metrics", "Authorization: Bearer " + kToken + "\r\n"),
              HasSubstr("rdzv_tokens_refused_total 1\n"));
}

TEST(GuardedServer, WithTheTokenPagesShowWhatWorkersHaveWritten) {
  RunningRosterServer server(guarded());
  TokenAgent a(server.port(), kToken);
  Join join = join_of("r", "a", 1);
  join.max_restarts = 1;
  a.say(join);
  ASSERT_TRUE(a.await<Assignment>());
  a.say(Failed{.round = 0, .rank = 0, .code = 3, .lines = {"the last words"}});
  ASSERT_TRUE(a.await<Stop>());
  a.say(Drained{.round = 0, .store_port = 29'501});
  ASSERT_TRUE(a.await<Assignment>());
  EXPECT_THAT(request_page(server.port(), "/", "Authorization: Bearer " + kToken + "\r\n"),
              HasSubstr("the last words"));
}

TEST(GuardedServer, AnotherTokenIsForThoseWhoComeThen) {
  RunningRosterServer server(guarded());
  TokenAgent old(server.port(), kToken);
  ASSERT_TRUE(old.done);
  server.on_thread(
      [](RosterServer& it) { return it.set_token(token("the-next-token-of-all")), 0; });
  old.say(join_of("r", "a", 2));
  EXPECT_TRUE(old.await<Welcome>());
  EXPECT_FALSE(TokenAgent(server.port(), kToken).done);
  EXPECT_TRUE(TokenAgent(server.port(), "the-next-token-of-all").done);
}

// The first of a round's nodes hosts its store.
TEST(GuardedServer, TheStoresHostIsToldWhereItsClientsComeFrom) {
  RunningRosterServer server(guarded());
  TokenAgent a(server.port(), kToken);
  TokenAgent b(server.port(), kToken);
  Join from_b = join_of("r", "b", 2);
  from_b.addresses = {"10.0.0.7", "10.1.0.7", "10.2.0.7"};
  a.say(join_of("r", "a", 2));
  ASSERT_TRUE(a.await<Welcome>());
  b.say(from_b);
  const auto clients = a.await<StoreClients>();
  ASSERT_TRUE(clients) << "before the assignment";
  EXPECT_THAT(clients->addresses, testing::ElementsAre("10.0.0.7", "10.1.0.7", "127.0.0.1"));
  EXPECT_TRUE(a.await<Assignment>());
  while (const auto message = b.next()) {
    EXPECT_FALSE(std::holds_alternative<StoreClients>(*message)) << "not for the others";
    if (std::holds_alternative<Assignment>(*message)) break;
  }
}

// All is there before the server looks, and the newcomer first.
TEST(GuardedServer, WhoseHandshakeIsUnreadIsNotTakenForSilent) {
  boost::asio::io_context io;
  const std::string key = guard::random_number();
  RosterServerOptions options;
  options.tls = guard::Tls::server({}, key).value();
  options.max_unfinished_per_address = 1;
  auto server = std::move(RosterServer::listen(io, std::move(options)).value());
  RawClient agent(server->port(), false);
  guard::TlsStream tls(guard::Tls::client_with(key).value());
  std::string in, out;
  ASSERT_TRUE(tls.receive("", in, out));
  agent.send(std::exchange(out, {}));
  std::string answer;
  while (!tls.is_open()) {
    ASSERT_GT(io.run_one_for(std::chrono::milliseconds(kPatienceMs)), 0u);
    answer = agent.receive_now();
    ASSERT_TRUE(tls.receive(answer, in, out));
  }
  tls.send("it speaks nothing known", out);
  RawClient newcomer(server->port(), false);
  agent.send(out);
  while (server->statistics().port.accepted < 2)
    ASSERT_GT(io.run_one_for(std::chrono::milliseconds(kPatienceMs)), 0u);
  EXPECT_EQ(server->statistics().port.over_address_limit, 0u);
  EXPECT_EQ(server->statistics().port.strangers, 1u) << "what it has said was heard";
}

// A client by TLS whose handshake is over.
class TlsCaller {
 public:
  TlsCaller(std::uint16_t port, const std::string& key)
      : client_(port, false), tls_(guard::Tls::client_with(key).value()) {
    std::string arrived, in, out;
    do {
      EXPECT_TRUE(tls_.receive(arrived, in, out));
      client_.send(std::exchange(out, {}));
    } while (!tls_.is_open() && !(arrived = client_.receive_some()).empty());
    EXPECT_TRUE(tls_.is_open());
  }
  void say(const std::string& text) {
    std::string out;
    tls_.send(text, out);
    client_.send(out);
  }

 private:
  RawClient client_;
  guard::TlsStream tls_;
};

std::ptrdiff_t open_files() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

// They are told to go, and stay: a place is theirs until somebody else comes.
TEST(GuardedServer, WhoDoesNotGoMakesRoomForNewcomers) {
  constexpr std::ptrdiff_t kConnections = 4, kDescriptorsOfOne = 3;
  const std::string key = guard::random_number();
  RosterServerOptions options;
  options.tls = guard::Tls::server({}, key).value();
  options.max_connections = kConnections;
  RunningRosterServer server(std::move(options));
  const std::ptrdiff_t before = open_files();
  std::deque<TlsCaller> callers;
  for (std::size_t i = 0; i < 3 * kConnections; ++i) {
    callers.emplace_back(server.port(), key).say("nothing that is known");
    server.await([&](const auto& now) { return now.port.strangers == i + 1; });
  }
  EXPECT_EQ(server.statistics().port.turned_away, 0u);
  EXPECT_LE(open_files() - before - static_cast<std::ptrdiff_t>(callers.size()),
            kConnections * kDescriptorsOfOne);
}

class GuardedStore : public testing::Test {
 protected:
  void admit(const std::vector<std::string>& addresses) {
    server_.on_thread([&](RosterServer& it) { return it.admit_store_clients(addresses), 0; });
  }
  RunningRosterServer server_{guarded()};
};

TEST_F(GuardedStore, LetsInTheNodesOfTheRoundAlone) {
  admit({"127.0.0.2", "fd00::1"});
  RawClient member;
  member.connect_from("127.0.0.2", server_.port());
  member.greet();
  member.send(store::set("/k", "v"));
  member.sync();
  RawClient stranger(server_.port());
  stranger.send(store::get("/k"));
  EXPECT_TRUE(stranger.is_closed());
  EXPECT_THAT(server_.only_warning(), HasSubstr("closed the connection of 127.0.0.1:"));
  EXPECT_THAT(server_.only_warning(), HasSubstr("its address belongs to no node of the round"));
}

TEST_F(GuardedStore, WhoComesTooEarlyWaitsForTheRound) {
  RawClient early(server_.port());
  early.send(store::set("/k", "v"));
  server_.await([](const auto& now) { return now.port.connections == 1; });
  EXPECT_EQ(server_.statistics().port.requests, 0u);
  admit({"127.0.0.1"});
  early.sync();
  EXPECT_EQ(server_.statistics().port.keys, 1u);
}

TEST_F(GuardedStore, ANewRoundHasOtherNodes) {
  admit({"127.0.0.1"});
  RawClient old(server_.port());
  old.sync();
  server_.on_thread([](RosterServer& it) { return it.start_store_over(), 0; });
  EXPECT_TRUE(old.is_closed());
  RawClient late(server_.port());
  late.send(store::set("/k", "v"));
  admit({"127.0.0.2"});
  EXPECT_TRUE(late.is_closed());
  EXPECT_EQ(server_.statistics().port.keys, 0u);
}

}  // namespace
}  // namespace ddprun::server
