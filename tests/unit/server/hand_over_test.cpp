// What a server does with connections that speak something else, and with one too many.
#include <gtest/gtest.h>

#include <deque>

#include "rendezvous/server/peer.h"
#include "tests/unit/server/running_server.h"

namespace ddprun::server {
namespace {

using namespace store;

constexpr std::chrono::milliseconds kPatience{kPatienceMs};

// Keeps what it gets.
class Collector : public OtherProtocols {
 public:
  bool serves(protocol::Dialect dialect) const override {
    return dialect == protocol::Dialect::kRoster || dialect == protocol::Dialect::kHttp;
  }
  void take(protocol::Dialect dialect, Visitor visitor) override {
    dialects.push_back(dialect);
    visitors.push_back(std::move(visitor));
  }
  std::size_t connections() const override { return visitors.size(); }

  std::vector<protocol::Dialect> dialects;
  std::deque<Visitor> visitors;
};

class HandOver : public testing::Test {
 protected:
  void listen(ServerOptions options) {
    options.others = &collector_;
    options.log = [this](std::string line) { lines_.push_back(std::move(line)); };
    server_ = std::move(Server::listen(io_, std::move(options)).value());
  }
  void serve_until(const std::function<bool()>& reached) {
    while (!reached()) ASSERT_GT(io_.run_one_for(kPatience), 0u) << "nothing happens any more";
  }
  std::string only_line() {
    EXPECT_EQ(lines_.size(), 1u);
    return lines_.empty() ? "" : lines_.front();
  }

  boost::asio::io_context io_;
  Collector collector_;
  std::vector<std::string> lines_;
  std::unique_ptr<Server> server_;
};

TEST_F(HandOver, GivesAwayTheSocketWithAllThatWasRead) {
  listen({});
  RawClient agent(server_->port(), false);
  RawClient browser(server_->port(), false);
  agent.send("DD");
  serve_until([&] { return server_->statistics().connections == 2; });
  agent.send("PRrest");
  browser.send("GET / HTTP/1.1\r\n");
  serve_until([&] { return collector_.visitors.size() == 2; });
  EXPECT_EQ(server_->statistics().connections, 0u);
  const bool agent_first = collector_.dialects[0] == protocol::Dialect::kRoster;
  Visitor& visitor = collector_.visitors[agent_first ? 0 : 1];
  EXPECT_EQ(collector_.visitors[agent_first ? 1 : 0].first, "GET / HTTP/1.1\r\n");
  EXPECT_TRUE(visitor.first.starts_with("DDPR"));
  EXPECT_TRUE(is_loopback(visitor.peer));
  EXPECT_TRUE(to_text(visitor.peer).starts_with("127.0.0.1:"));
  ASSERT_EQ(::send(visitor.socket.get(), "hello", 5, 0), 5);
  EXPECT_EQ(agent.receive(5), "hello");
  EXPECT_TRUE(lines_.empty());
}

TEST_F(HandOver, SaysWhatIsServedToOthers) {
  listen({});
  RawClient stranger(server_->port(), false);
  stranger.send("\x16\x03\x01");
  serve_until([&] { return !lines_.empty(); });
  EXPECT_EQ(stranger.receive_all(), "there is no TLS here\n");
  EXPECT_TRUE(
      only_line().ends_with(": it speaks TLS; the c10d store protocol, the roster protocol "
                            "and HTTP are served here"))
      << only_line();
}

TEST_F(HandOver, WithoutAStoreItsClientsAreStrangers) {
  listen({.serve_store = false});
  RawClient client(server_->port());
  serve_until([&] { return !lines_.empty(); });
  EXPECT_TRUE(client.is_closed());
  EXPECT_TRUE(only_line().ends_with(
      ": it speaks the c10d store protocol; the roster protocol and HTTP are served here"))
      << only_line();
  EXPECT_EQ(server_->statistics().strangers, 1u);
}

TEST_F(HandOver, StartingOverClosesStoreClientsAndNobodyElse) {
  listen({});
  RawClient old(server_->port());
  old.send(set("/old", "v"));
  serve_until([&] { return server_->statistics().keys == 1; });
  RawClient half(server_->port(), false);
  half.send("D");
  serve_until([&] { return server_->statistics().connections == 2; });
  RawClient unseen_store(server_->port());
  RawClient unseen_agent(server_->port(), false);
  unseen_store.send(set("/unseen", "v"));
  unseen_agent.send("DDPR");
  server_->start_over();
  half.send("DPR");
  serve_until([&] { return collector_.visitors.size() == 2; });
  serve_until([&] { return server_->statistics().connections == 0; });
  EXPECT_TRUE(old.is_closed());
  EXPECT_TRUE(unseen_store.is_closed());
  EXPECT_EQ(server_->statistics().keys, 0u);
  EXPECT_TRUE(lines_.empty());
  RawClient next(server_->port());
  next.send(set("/new", "v"));
  serve_until([&] { return server_->statistics().keys == 1; });
}

TEST_F(HandOver, ConnectionsOverTheLimitAreClosedAtOnceWithALine) {
  listen({.max_connections = 2});
  RawClient agent(server_->port(), false);
  agent.send("DDPR");
  serve_until([&] { return collector_.visitors.size() == 1; });
  RawClient client(server_->port());
  client.send(set("/k", "v"));
  serve_until([&] { return server_->statistics().keys == 1; });
  std::deque<RawClient> many;
  for (int i = 0; i < 20; ++i) many.emplace_back(server_->port());
  serve_until([&] { return server_->statistics().turned_away == 20; });
  for (RawClient& each : many) EXPECT_TRUE(each.is_closed());
  EXPECT_EQ(lines_.size(), 20u);
  EXPECT_NE(lines_.front().find("it is one more than the limit of 2 connections (max_connections)"),
            std::string::npos);
  collector_.visitors.clear();
  RawClient welcome(server_->port());
  welcome.send(set("/k2", "v"));
  serve_until([&] { return server_->statistics().keys == 2; });
}

}  // namespace
}  // namespace ddprun::server
