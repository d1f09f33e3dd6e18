// Whoever speaks the roster protocol badly is told why, with one line in the log; runs go on.
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "tests/unit/server/running_roster_server.h"

namespace ddprun::server {
namespace {

using namespace protocol;
using namespace std::string_literals;

// A run whose nodes work, before and after whatever the test does.
class HostileAgents : public testing::Test {
 protected:
  static RosterServerOptions options() {
    RosterServerOptions options;
    options.max_memory_bytes = 4 << 20;
    options.max_connections = 100;
    options.runs.max_runs = 20;
    return options;
  }
  HostileAgents() : server_(options()), a_(server_.port()) {
    a_.say(join_of("good", "a", 2));
    EXPECT_TRUE(a_.await<Welcome>());
    memory_before_ = server_.statistics().memory_bytes;
  }
  void the_run_is_not_disturbed() {
    RawAgent b(server_.port());
    b.say(join_of("good", "b", 2));
    EXPECT_TRUE(a_.await<Assignment>());
    EXPECT_TRUE(b.await<Assignment>());
  }
  // What an agent hears that sends this behind its opening.
  std::string refusal_of(const std::string& bytes) {
    RawAgent agent(server_.port());
    agent.send(bytes);
    const auto refused = agent.await<Refused>();
    EXPECT_TRUE(agent.is_closed());
    return refused ? refused->why : "";
  }
  static std::string frame(const std::string& json) {
    std::string bytes;
    encode_frame(bytes, json);
    return bytes;
  }

  RunningRosterServer server_;
  RawAgent a_;
  std::deque<RawAgent> agents_;
  std::uint64_t memory_before_ = 0;
};

TEST_F(HostileAgents, LengthsOfTwoGigabytesAndOfNothing) {
  EXPECT_NE(refusal_of("\x00\x00\x00\x80"s).find("announces 2147483648 bytes"), std::string::npos);
  EXPECT_NE(refusal_of("\x00\x00\x00\x00"s).find("announces 0 bytes"), std::string::npos);
  EXPECT_EQ(server_.warnings().size(), 2u);
  EXPECT_NE(server_.warnings()[0].find("closed the connection of 127.0.0.1:"), std::string::npos);
  EXPECT_EQ(server_.statistics().roster_dropped, 2u);
  the_run_is_not_disturbed();
}

TEST_F(HostileAgents, BombsOfJson) {
  const std::string deep = std::string(500'000, '[') + std::string(500'000, ']');
  EXPECT_NE(refusal_of(frame(deep)).find("is not JSON"), std::string::npos);
  std::string wide = "[0";
  for (int i = 0; i < 500'000; ++i) wide += ",0";
  EXPECT_NE(refusal_of(frame(wide + "]")).find("an object is needed"), std::string::npos);
  EXPECT_EQ(server_.statistics().memory_bytes, memory_before_);
  the_run_is_not_disturbed();
}

TEST_F(HostileAgents, AnotherVersionOfTheProtocol) {
  RawAgent newer(server_.port(), 7);
  const auto refused = newer.await<Refused>();
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->why.find("roster protocol 1, this node's speaks 7"), std::string::npos);
  EXPECT_TRUE(newer.is_closed());
  the_run_is_not_disturbed();
}

TEST_F(HostileAgents, WhatIsNoJoin) {
  EXPECT_NE(refusal_of(frame("{\"type\":\"pong\",\"id\":1}")).find("join is needed"),
            std::string::npos);
  EXPECT_NE(refusal_of(frame("{\"type\":\"join\"}")).find("join: "), std::string::npos);
  EXPECT_NE(refusal_of(frame("{\"type\":\"dance\"}")).find("\"dance\" is not known"),
            std::string::npos);
  EXPECT_EQ(server_.warnings().size(), 3u);
  the_run_is_not_disturbed();
}

TEST_F(HostileAgents, ConflictsAreOneLineEach) {
  RawAgent other(server_.port());
  other.say(join_of("good", "c", 3));
  const auto refused = other.await<Refused>();
  ASSERT_TRUE(refused);
  EXPECT_EQ(server_.statistics().refused, 1u);
  EXPECT_NE(server_.only_warning().find("refused 127.0.0.1:"), std::string::npos);
  EXPECT_NE(server_.only_warning().find("(node c of run good): " + refused->why),
            std::string::npos);
  the_run_is_not_disturbed();
}

// All is sent before the server runs, and what has arrived is read before a timer is looked at:
// however slow the machine is, the good ones are in time.
TEST(SilentAgents, AreTimedOutBeforeTheirFirstMessageAndNotBehindIt) {
  boost::asio::io_context io;
  std::vector<std::string> lines;
  RosterServerOptions options;
  options.handshake_timeout = std::chrono::milliseconds(200);
  options.log = [&](Severity severity, const std::string& line) {
    if (severity >= Severity::warning) lines.push_back(line);
  };
  auto server = std::move(RosterServer::listen(io, std::move(options)).value());
  RawAgent good(server->port());
  good.say(join_of("good", "a", 2));
  RawAgent silent(server->port());
  RawAgent slow(server->port());
  slow.send("\x40\x00\x00\x00{\"type\""s);
  RawClient browser(server->port(), false);
  browser.send("GET / HTT");
  while (lines.size() < 3) ASSERT_GT(io.run_one_for(std::chrono::milliseconds(kPatienceMs)), 0u);
  EXPECT_TRUE(silent.is_closed());
  EXPECT_TRUE(slow.is_closed());
  EXPECT_TRUE(browser.is_closed());
  const auto says = [&](const std::string& text) {
    return std::ranges::count_if(
        lines, [&](const std::string& line) { return line.find(text) != std::string::npos; });
  };
  EXPECT_EQ(says("it sent no whole message within 200 ms"), 2);
  EXPECT_EQ(says("it sent no whole request within 200 ms"), 1);
  EXPECT_EQ(server->statistics().roster_connections, 1u);
  EXPECT_TRUE(good.await<Welcome>());
}

// They hold what messages may hold, a quarter of 4 MiB, and it is them who are dropped, not the
// good run, whose agents speak all the time.
TEST_F(HostileAgents, UnfinishedMessagesAreBoundedTogether) {
  std::deque<RawAgent> hoarders;
  for (int i = 0; i < 8; ++i) {
    hoarders.emplace_back(server_.port());
    hoarders.back().say(join_of("run" + std::to_string(i), "a", 2));
    EXPECT_TRUE(hoarders.back().await<Welcome>());
    hoarders.back().send("\x00\x00\x10\x00"s + std::string(400 << 10, 'x'));
    a_.say(Pong{.id = 0});
  }
  server_.await([](const RosterServerStatistics& now) { return now.roster_dropped >= 6; });
  EXPECT_LE(server_.statistics().memory_bytes, memory_before_ + (1 << 20) + 100'000);
  for (const std::string& line : server_.warnings()) {
    EXPECT_NE(line.find("(node a of run run"), std::string::npos) << line;
    EXPECT_NE(line.find("are the largest of its address"), std::string::npos) << line;
    EXPECT_NE(line.find("over the limit of 1048576"), std::string::npos) << line;
  }
  the_run_is_not_disturbed();
  EXPECT_EQ(server_.statistics().roster_dropped, 6u);
}

// Each of the crowd holds less than the good one.
TEST_F(HostileAgents, OneAddressLosesNothingToAnotherOneThatHoldsMore) {
  std::string report;
  encode(report, AgentMessage(Started{.round = 0, .workers = {{1, std::string(400 << 10, 'x')}}}));
  a_.send(report.substr(0, report.size() / 2));
  std::deque<RawAgent> crowd;
  for (int i = 0; i < 8; ++i) {
    crowd.emplace_back(server_.port(), kRosterProtocol, "127.0.0.2");
    crowd.back().send("\x00\x00\x10\x00"s + std::string(150 << 10, 'x'));
  }
  server_.await([](const RosterServerStatistics& now) { return now.roster_dropped >= 2; });
  for (const std::string& line : server_.warnings())
    EXPECT_NE(line.find("closed the connection of 127.0.0.2:"), std::string::npos) << line;
  EXPECT_EQ(server_.statistics().runs, 1u) << "that of the good one";
}

TEST_F(HostileAgents, OneAddressCannotTakeAllRuns) {
  const auto begin = [&](const std::string& run, const std::string& source) {
    RawAgent& agent = agents_.emplace_back(server_.port(), kRosterProtocol, source);
    agent.say(join_of(run, "a", 2));
    const auto answer = agent.next();
    const auto* refused = answer ? std::get_if<Refused>(&*answer) : nullptr;
    return refused == nullptr ? "" : refused->why;
  };
  std::string why;
  for (int i = 0; i < 90 && why.empty(); ++i) why = begin("r" + std::to_string(i), "127.0.0.2");
  EXPECT_NE(why.find("runs that 127.0.0.2 has begun on head"), std::string::npos) << why;
  EXPECT_NE(why.find("is all that one address gets"), std::string::npos) << why;
  EXPECT_EQ(begin("other", "127.0.0.3"), "");
}

TEST_F(HostileAgents, RandomBytesDisturbNobody) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    RawAgent agent(server_.port());
    std::string bytes(1 + random() % 300, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 256);
    if (round % 2 == 0) bytes = frame(bytes);
    agent.send(bytes);
  }
  server_.await([](const RosterServerStatistics& now) {
    return now.port.accepted + now.port.turned_away == 201 && now.port.connections == 0 &&
           now.roster_connections == 1;
  });
  EXPECT_EQ(server_.statistics().memory_bytes, memory_before_);
  the_run_is_not_disturbed();
}

TEST_F(HostileAgents, NamesCannotWriteIntoTheLog) {
  RawAgent agent(server_.port());
  agent.send(frame("{\"type\":\"join\",\"run\":\"x\\u001b[31m\\nfake line\"}"));
  EXPECT_TRUE(agent.await<Refused>());
  EXPECT_EQ(server_.only_warning().find_first_of("\x1b\n"), std::string::npos);
}

TEST_F(HostileAgents, MoreConnectionsThanTheLimit) {
  std::deque<RawAgent> many;
  for (int i = 0; i < 300; ++i) many.emplace_back(server_.port());
  server_.await([](const RosterServerStatistics& now) {
    return now.port.accepted + now.port.turned_away >= 301;
  });
  EXPECT_GE(server_.statistics().port.turned_away, 1u);
  many.clear();
  server_.await([](const RosterServerStatistics& now) { return now.roster_connections == 1; });
  the_run_is_not_disturbed();
}

}  // namespace
}  // namespace ddprun::server
