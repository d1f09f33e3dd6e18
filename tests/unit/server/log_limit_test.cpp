// Nobody from outside fills a log, and nothing is left out without a word.
#include "rendezvous/server/log_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/server/running_roster_server.h"

namespace ddprun::server {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr Severity kWarning = Severity::warning;

TEST(LogLimit, TakesTheFirstLinesOfAKindAndCountsTheOthers) {
  LogLimit limit;
  LogLimit::Time now{};
  for (std::size_t i = 0; i < LogLimit::kWarnings; ++i)
    EXPECT_TRUE(limit.takes(now, kWarning, "stranger", "a"));
  EXPECT_FALSE(limit.next()) << "nothing is left out yet";
  for (int i = 1; i <= 312; ++i)
    EXPECT_FALSE(limit.takes(now + 1s, kWarning, "stranger", "line " + std::to_string(i)));
  EXPECT_TRUE(limit.takes(now, kWarning, "refused", "b")) << "another kind";
  EXPECT_EQ(limit.next(), now + 10s);
  EXPECT_TRUE(limit.due(now + 9s).empty());
  const auto lines = limit.due(now + 10s);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].text, "… and 312 more like it, the last one: line 312");
  EXPECT_EQ(lines[0].severity, kWarning);
  EXPECT_FALSE(limit.next());
  EXPECT_TRUE(limit.takes(now + 10s, kWarning, "stranger", "a")) << "a new span";
}

TEST(LogLimit, AQuietKindBeginsAnew) {
  LogLimit limit;
  LogLimit::Time now{};
  for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(limit.takes(now += 1s, kWarning, "stranger", "a"));
}

TEST(LogLimit, MoreIsTakenOfWhatIsNoWarning) {
  LogLimit limit;
  for (std::size_t i = 0; i < LogLimit::kOthers; ++i)
    EXPECT_TRUE(limit.takes({}, Severity::info, "welcome", "a"));
  EXPECT_FALSE(limit.takes({}, Severity::info, "welcome", "a"));
  EXPECT_EQ(limit.rest().size(), 1u);
  EXPECT_TRUE(limit.rest().empty());
}

TEST(LimitedLog, StrangersOfARealServerAreCounted) {
  RunningRosterServer server;
  for (int i = 0; i < 100; ++i) {
    RawClient stranger(server.port(), false);
    stranger.send("garbage\r\n");
    EXPECT_TRUE(stranger.is_closed());
  }
  EXPECT_EQ(server.warnings().size(), LogLimit::kWarnings);
  std::promise<void> done;
  server.on_thread([&](RosterServer& each) {
    each.shut_down("it was told to stop", 60s, [&] { done.set_value(); });
  });
  done.get_future().get();
  ASSERT_EQ(server.warnings().size(), LogLimit::kWarnings + 1);
  EXPECT_THAT(server.warnings().back(), HasSubstr("… and 80 more like it, the last one: closed"));
}

TEST(LimitedLog, WhatIsNotWrittenIsNotMade) {
  for (const Severity from : {Severity::debug, Severity::info}) {
    RosterServerOptions options;
    options.log_from = from;
    RunningRosterServer server(std::move(options));
    RawAgent agent(server.port());
    agent.say(join_of("r", "a", 2));
    ASSERT_TRUE(agent.await<protocol::Welcome>());
    agent.say(protocol::Pong{.id = 0});
    server.await([](const RosterServerStatistics& now) { return now.messages == 2; });
    EXPECT_EQ(server.count(Severity::debug) > 0, from == Severity::debug);
    EXPECT_GT(server.count(Severity::info), 0u);
  }
}

}  // namespace
}  // namespace ddprun::server
