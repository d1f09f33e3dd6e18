// Agents, pages and store clients behind one port: what each of them sees.
#include "rendezvous/server/roster_server.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "tests/unit/server/running_roster_server.h"

namespace ddprun::server {
namespace {

using namespace protocol;
using testing::Test;

std::string get_page(std::uint16_t port, const std::string& target) {
  RawClient browser(port, false);
  browser.send("GET " + target + " HTTP/1.1\r\nHost: head\r\n\r\n");
  return browser.receive_all();
}

TEST(RosterServer, TwoNodesMeetAndHearOfAFailure) {
  RunningRosterServer server;
  RawAgent a(server.port());
  RawAgent b(server.port());
  a.say(join_of("r", "a", 2));
  EXPECT_TRUE(a.await<Welcome>());
  const auto waiting = a.await<Waiting>();
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->here, 1);
  b.say(join_of("r", "b", 2));
  const auto for_a = a.await<Assignment>();
  const auto for_b = b.await<Assignment>();
  ASSERT_TRUE(for_a && for_b);
  EXPECT_EQ(for_a->world_size, 4);
  EXPECT_EQ(for_b->nodes.at(1).node, "b");
  b.say(Failed{.round = 0, .rank = 2, .local_rank = 0, .code = 3});
  EXPECT_TRUE(a.await<Stop>());
  a.say(Drained{.round = 0, .store_port = 29'501});
  b.say(Drained{.round = 0, .store_port = 29'501});
  const auto abort_a = a.await<Abort>();
  ASSERT_TRUE(abort_a);
  EXPECT_EQ(abort_a->exit_code, 3);
  EXPECT_EQ(abort_a->cause.node, "b");
  EXPECT_TRUE(b.await<Abort>());
  EXPECT_TRUE(a.is_closed());
  EXPECT_TRUE(b.is_closed());
  EXPECT_TRUE(server.warnings().empty());
}

TEST(RosterServer, AResetIsALostNode) {
  RunningRosterServer server;
  RawAgent a(server.port());
  RawAgent b(server.port());
  a.say(join_of("r", "a", 2));
  b.say(join_of("r", "b", 2));
  ASSERT_TRUE(a.await<Assignment>());
  b.close();
  const auto abort = a.await<Abort>();
  ASSERT_TRUE(abort);
  EXPECT_EQ(abort->exit_code, 125);
  EXPECT_EQ(abort->cause.kind, Cause::Kind::node_lost);
  EXPECT_EQ(abort->cause.node, "b");
}

TEST(RosterServer, TimeIsTheServersBusiness) {
  RunningRosterServer server;
  RawAgent a(server.port());
  Join join = join_of("r", "a", 2);
  join.join_timeout = std::chrono::milliseconds(50);
  a.say(join);
  const auto abort = a.await<Abort>();
  ASSERT_TRUE(abort);
  EXPECT_EQ(abort->cause.kind, Cause::Kind::timed_out);
  EXPECT_TRUE(a.is_closed());
}

TEST(RosterServer, ThreeProtocolsOnOnePort) {
  RunningRosterServer server;
  RawAgent agent(server.port());
  agent.say(join_of("my run", "node<1>", 2));
  ASSERT_TRUE(agent.await<Welcome>());
  RawClient store(server.port());
  store.send(store::set("/k", "v"));
  store.sync();
  const std::string page = get_page(server.port(), "/");
  EXPECT_TRUE(page.starts_with("HTTP/1.1 200 OK\r\n")) << page;
  EXPECT_NE(page.find("run my run"), std::string::npos);
  EXPECT_NE(page.find("node&lt;1&gt;"), std::string::npos);
  EXPECT_NE(get_page(server.port(), "/api/v1/runs/my%20run").find("\"node\":\"node<1>\""),
            std::string::npos);
  const std::string metrics = get_page(server.port(), "/metrics");
  EXPECT_NE(metrics.find("\nrdzv_store_keys 1\n"), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("\nrdzv_connections{protocol=\"roster\"} 1\n"), std::string::npos);
  EXPECT_NE(metrics.find("\nrdzv_run_nodes{run=\"my run\",state=\"waiting\"} 1\n"),
            std::string::npos);
  EXPECT_TRUE(server.warnings().empty());
}

TEST(RosterServer, AnAnswerThatIsTooLargeIsRefusedAndEndsNothing) {
  RunningRosterServer server;
  Started started{.round = 0};
  started.workers.assign(1500, {1, std::string(120, 'x')});
  std::vector<std::unique_ptr<RawAgent>> agents;
  for (int i = 0; i < 8; ++i) {
    agents.push_back(std::make_unique<RawAgent>(server.port()));
    Join join = join_of("r" + std::to_string(i), "a", 1);
    join.nproc = 1500;
    agents.back()->say(join);
    ASSERT_TRUE(agents.back()->await<Assignment>());
    agents.back()->say(started);
  }
  // Not all of it may have arrived when the first one asks.
  std::optional<Refused> refused;
  for (int i = 0; i < 200 && !refused; ++i) {
    RawAgent asks(server.port());
    asks.say(AskStatus{});
    const auto answer = asks.next();
    if (answer && std::holds_alternative<Refused>(*answer)) refused = std::get<Refused>(*answer);
  }
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->why.find("1 MiB"), std::string::npos) << refused->why;
  RawAgent later(server.port());
  later.say(join_of("other", "b", 2));
  EXPECT_TRUE(later.await<Welcome>());
}

TEST(RosterServer, HttpMistakesAreAnsweredInWords) {
  RunningRosterServer server;
  EXPECT_TRUE(get_page(server.port(), "/nothing").starts_with("HTTP/1.1 404 Not Found\r\n"));
  RawClient post(server.port(), false);
  post.send("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_TRUE(post.receive_all().starts_with("HTTP/1.1 405 Method Not Allowed\r\n"));
  RawClient head(server.port(), false);
  head.send("HEAD /healthz HTTP/1.1\r\n\r\n");
  const std::string answer = head.receive_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << "no body";
  RawClient garbage(server.port(), false);
  garbage.send("GET nonsense\r\n\r\n");
  EXPECT_TRUE(garbage.receive_all().starts_with("HTTP/1.1 400 Bad Request\r\n"));
  RawClient large(server.port(), false);
  large.send("GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x'));
  EXPECT_TRUE(large.receive_all().starts_with("HTTP/1.1 431 "));
}

TEST(RosterServer, AStoreThatStartsOverKeepsTheAgents) {
  RunningRosterServer server;
  RawAgent agent(server.port());
  agent.say(join_of("r", "a", 2));
  ASSERT_TRUE(agent.await<Welcome>());
  RawClient old(server.port());
  old.send(store::set("/k", "v"));
  old.sync();
  server.on_thread([](RosterServer& each) { each.start_store_over(); });
  EXPECT_TRUE(old.is_closed());
  EXPECT_EQ(server.statistics().port.keys, 0u);
  EXPECT_EQ(server.statistics().roster_connections, 1u);
}

TEST(RosterServer, BeforeItEndsItTellsItsAgents) {
  RunningRosterServer server;
  RawAgent agent(server.port());
  RawAgent silent(server.port());
  RawClient store(server.port());
  agent.say(join_of("r", "a", 2));
  ASSERT_TRUE(agent.await<Welcome>());
  store.sync();
  std::promise<void> done;
  server.on_thread([&](RosterServer& each) {
    each.shut_down("rdzvd was told to stop", std::chrono::seconds(60), [&] { done.set_value(); });
  });
  const auto stopping = agent.await<ServerStopping>();
  ASSERT_TRUE(stopping);
  EXPECT_EQ(stopping->why, "rdzvd was told to stop");
  EXPECT_TRUE(agent.is_closed());
  agent.close();
  done.get_future().get();
  EXPECT_TRUE(silent.is_closed());
  EXPECT_TRUE(store.is_closed());
  server.join_thread();  // nothing keeps the loop alive
}

TEST(RosterServer, WhoeverComesWhileItEndsIsToldAndIsNoMember) {
  RunningRosterServer server;
  RawAgent agent(server.port());
  agent.say(join_of("r", "a", 2));
  ASSERT_TRUE(agent.await<Welcome>());
  RawClient late(server.port(), false);  // has not said what it speaks
  server.await([](const RosterServerStatistics& now) { return now.port.accepted == 2; });
  std::promise<void> done;
  server.on_thread([&](RosterServer& each) {
    each.shut_down("it was told to stop", std::chrono::seconds(60), [&] { done.set_value(); });
  });
  std::string join;
  encode_opening(join, kRosterProtocol);
  encode(join, AgentMessage(join_of("r", "b", 2)));
  late.send(join);
  const std::string answer = late.receive_all();
  EXPECT_NE(answer.find("\"type\":\"stopping\",\"why\":\"it was told to stop\""), std::string::npos)
      << answer;
  EXPECT_EQ(answer.find("welcome"), std::string::npos);
  late.close();
  agent.close();
  done.get_future().get();
}

TEST(RosterServer, ManySlowReadersOfPagesAreNoReasonToEndAHealthyServer) {
  RunningRosterServer server;
  std::deque<RawClient> slow;
  for (int i = 0; i < 256; ++i) {
    slow.emplace_back(server.port(), false);
    slow.back().send("GET / HTTP/1.1\r\n");
  }
  server.await([](const RosterServerStatistics& now) { return now.http_connections == 256; });
  EXPECT_TRUE(get_page(server.port(), "/").starts_with("HTTP/1.1 503 "));
  EXPECT_TRUE(get_page(server.port(), "/metrics?x").starts_with("HTTP/1.1 503 "));
  EXPECT_TRUE(get_page(server.port(), "/healthz").starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST(RosterServer, OneAddressCannotKeepOthersFromThePages) {
  RunningRosterServer server;
  std::deque<RawClient> slow;
  for (int i = 0; i < 256; ++i) {
    slow.emplace_back().connect_from("127.0.0.2", server.port());
    slow.back().send("GET / HTTP/1.1\r\n");
  }
  server.await([](const RosterServerStatistics& now) { return now.http_connections == 256; });
  EXPECT_TRUE(get_page(server.port(), "/").starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(slow.front().is_closed()) << "the oldest makes room";
  EXPECT_NE(server.only_warning().find("closed the connection of 127.0.0.2:"), std::string::npos);
}

TEST(RosterServer, PagesThatNobodyReadsTakeNothingFromTheAgents) {
  RosterServerOptions options;
  options.max_memory_bytes = 16 << 20;
  RunningRosterServer server(std::move(options));
  Started started{.round = 0};
  started.workers.assign(4000, {1, std::string(100, 'x')});
  std::deque<RawAgent> agents;  // that make a page of megabytes: more than the kernel takes
  for (int i = 0; i < 6; ++i) {
    Join join = join_of("r" + std::to_string(i), "a", 1);
    join.nproc = 4000;
    agents.emplace_back(server.port()).say(join);
    ASSERT_TRUE(agents.back().await<Assignment>());
    agents.back().say(started);
  }
  std::deque<RawClient> silent;
  const auto pages_are_full = [&] {
    return get_page(server.port(), "/api/v1/runs").starts_with("HTTP/1.1 503 ");
  };
  for (int i = 0; i < 50 && !pages_are_full(); ++i) {
    silent.emplace_back().take_little();
    silent.back().connect(server.port());
    silent.back().send("GET /api/v1/runs HTTP/1.1\r\n\r\n");
  }
  EXPECT_TRUE(pages_are_full());
  EXPECT_TRUE(get_page(server.port(), "/healthz").starts_with("HTTP/1.1 200 OK\r\n"));
  RawAgent other(server.port());
  other.say(join_of("other", "b", 2));
  EXPECT_TRUE(other.await<Welcome>());
  agents.front().say(Finished{.round = 0});
  EXPECT_TRUE(agents.front().await<Closed>());
  EXPECT_TRUE(server.warnings().empty()) << server.warnings().front();
}

TEST(RosterServer, WhoeverHostsItHearsWhenTheLastAgentHasGone) {
  std::promise<void> idle;
  RosterServerOptions options;
  options.on_idle = [&] { idle.set_value(); };
  RunningRosterServer server(std::move(options));
  RawAgent agent(server.port());
  agent.say(join_of("r", "a", 1));
  ASSERT_TRUE(agent.await<Assignment>());
  EXPECT_FALSE(server.on_thread([](RosterServer& each) { return each.idle(); }));
  agent.say(Finished{.round = 0});
  EXPECT_TRUE(agent.await<Closed>());
  agent.close();
  idle.get_future().get();
  EXPECT_TRUE(server.on_thread([](RosterServer& each) { return each.idle(); }));
}

}  // namespace
}  // namespace ddprun::server
