// A server whose runs are kept elsewhere: what it says when it stands by, and that nobody hears of
// what is not written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "tests/unit/server/running_roster_server.h"

namespace ddprun::server {
namespace {

using testing::HasSubstr;

// Writes when the test wants it.
class Notebook final : public Keeper {
 public:
  void write(std::vector<roster::Change> changes, std::function<void()> written) override {
    for (roster::Change& each : changes) keys.push_back(each.key);
    waiting.push_back(std::move(written));
  }
  bool leads() const override { return is_head; }
  Standing standing() const override { return {.serves = is_head, .terms = 3}; }
  // On the server's thread.
  void write_next() {
    auto written = std::move(waiting.front());
    waiting.pop_front();
    written();
  }

  bool is_head = true;
  std::deque<std::function<void()>> waiting;
  std::vector<std::string> keys;
};

class StandingBy : public testing::Test {
 protected:
  StandingBy() : server_({.keeper = &notebook_}) {}
  template <class Function>
  void on_thread(Function function) {
    server_.on_thread([&](RosterServer& server) {
      function(server);
      return true;
    });
  }
  void take_office() {
    on_thread([](RosterServer& server) { server.take_office({}); });
  }
  std::size_t waiting() {
    return server_.on_thread([&](RosterServer&) { return notebook_.waiting.size(); });
  }
  void await_writes(std::size_t count) {
    server_.await([&](const RosterServerStatistics&) { return waiting() >= count; });
  }
  void write_next() {
    on_thread([&](RosterServer&) { notebook_.write_next(); });
  }

  Notebook notebook_;
  RunningRosterServer server_;
};

TEST_F(StandingBy, NobodyIsServedBeforeItTakesOffice) {
  RawAgent agent(server_.port());
  agent.say(join_of("r", "a", 1));
  const auto elsewhere = agent.await<protocol::Elsewhere>();
  ASSERT_TRUE(elsewhere);
  EXPECT_FALSE(elsewhere->endpoint);
  EXPECT_TRUE(agent.is_closed());
}

TEST_F(StandingBy, WhoComesIsToldWhereTheHeadIs) {
  on_thread([](RosterServer& server) { server.stand_by({.endpoint = "h:1", .why = "it is"}); });
  RawAgent agent(server_.port());
  agent.say(protocol::AskStatus{});
  const auto elsewhere = agent.await<protocol::Elsewhere>();
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(elsewhere->endpoint, "h:1");
}

TEST_F(StandingBy, NobodyHearsOfWhatIsNotWritten) {
  take_office();
  RawAgent agent(server_.port());
  agent.say(join_of("r", "a", 1));
  await_writes(1);
  // What else is decided has to wait as well, and does: this answer would overtake.
  RawAgent other(server_.port());
  other.say(protocol::AskStatus{});
  server_.await([](const RosterServerStatistics& now) { return now.messages >= 2; });
  EXPECT_THAT(notebook_.keys, testing::ElementsAre("runs/r"));
  // The office goes before the word was written.
  on_thread([](RosterServer& server) { server.stand_by({.endpoint = {}, .why = "deposed"}); });
  EXPECT_FALSE(agent.next()) << "closed without a word";
  EXPECT_FALSE(other.next());
  write_next();
  EXPECT_EQ(server_.statistics().runs, 0u);
}

TEST_F(StandingBy, AllHearOfItWhenItIs) {
  take_office();
  RawAgent agent(server_.port());
  agent.say(join_of("r", "a", 1));
  await_writes(1);
  write_next();
  EXPECT_TRUE(agent.await<protocol::Welcome>());
  EXPECT_TRUE(agent.await<protocol::Assignment>());
  agent.say(protocol::Finished{0});
  await_writes(1);
  // Its end is decided: what it says now counts no more.
  agent.say(protocol::Leave{"too late"});
  write_next();
  EXPECT_TRUE(agent.await<protocol::Closed>());
  EXPECT_TRUE(agent.is_closed());
}

// Its lease is over, and no timer has told it yet: it was stopped.
TEST_F(StandingBy, WhoeverMayNotSpeakDecidesNothing) {
  take_office();
  RawAgent agent(server_.port());
  on_thread([&](RosterServer&) { notebook_.is_head = false; });
  agent.say(join_of("r", "a", 1));
  server_.await([](const RosterServerStatistics& now) { return now.messages >= 1; });
  EXPECT_EQ(waiting(), 0u);
  EXPECT_EQ(server_.statistics().runs, 0u);
}

TEST_F(StandingBy, EachOfficeIsAnotherServer) {
  take_office();
  const std::string first = server_.on_thread([](RosterServer& server) { return server.id(); });
  on_thread([](RosterServer& server) { server.stand_by({.endpoint = {}, .why = "w"}); });
  take_office();
  EXPECT_NE(server_.on_thread([](RosterServer& server) { return server.id(); }), first);
}

TEST_F(StandingBy, WhatWasLeftIsGoneOnWith) {
  protocol::EndRecord end{.run = "r", .run_directory = "x-1", .keep = std::chrono::seconds(20)};
  end.closed = protocol::Closed{"it had ended"};
  on_thread([&](RosterServer& server) { server.take_office({end}); });
  RawAgent agent(server_.port());
  protocol::Join join = join_of("r", "a", 1);
  join.former = protocol::Former{.server = "old", .run_directory = "x-1"};
  agent.say(join);
  const auto closed = agent.await<protocol::Closed>();
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->why, "it had ended");
}

}  // namespace
}  // namespace ddprun::server
