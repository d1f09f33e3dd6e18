// The client where several rdzvds are one: which of them it tries, and where it is led.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "rendezvous/client/roster_client.h"
#include "tests/unit/client/answering.h"

namespace ddprun::client {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

protocol::Elsewhere at(const Answering& head) {
  return {.endpoint = head.text(), .why = "the head is there"};
}

class SeveralServers : public testing::Test {
 protected:
  void connect(std::vector<Answering*> servers, std::chrono::nanoseconds patience = 20s) {
    options_.host = servers.front()->endpoint().host;
    options_.port = servers.front()->endpoint().port;
    for (std::size_t i = 1; i < servers.size(); ++i)
      options_.others.push_back(servers[i]->endpoint());
    client_ = std::make_unique<RosterClient>(
        io_, options_, [this](RosterEvent event) { events_.push_back(std::move(event)); });
    client_->connect(patience);
  }
  template <class T>
  const T* find() const {
    for (const RosterEvent& event : events_)
      if (const auto* found = std::get_if<T>(&event)) return found;
    return nullptr;
  }
  template <class T>
  T wait_for() {
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (find<T>() == nullptr && std::chrono::steady_clock::now() < until) io_.run_one_for(100ms);
    EXPECT_NE(find<T>(), nullptr) << "no such event";
    return find<T>() == nullptr ? T{} : *find<T>();
  }
  // The head has answered.
  bool is_welcome() {
    return std::holds_alternative<protocol::Welcome>(wait_for<protocol::ServerMessage>());
  }

  const protocol::Welcome welcome_{.member = 3,
                                   .server = "s",
                                   .server_host = "a",
                                   .server_version = "1",
                                   .ping_interval = 5s,
                                   .ping_attempts = 3,
                                   .run_directory = "r"};
  boost::asio::io_context io_{1};
  RosterClientOptions options_;
  std::vector<RosterEvent> events_;
  std::unique_ptr<RosterClient> client_;
  Answering one_{io_}, two_{io_}, three_{io_};
};

TEST_F(SeveralServers, TheNextOneIsTriedWhereNobodyListens) {
  three_.say(welcome_);
  connect({&one_, &two_, &three_});
  one_.end();
  two_.end();
  EXPECT_TRUE(is_welcome());
  EXPECT_EQ(find<RosterUnreachable>(), nullptr) << "nothing is wrong with the group";
}

// The hosts of two are gone without a word; trying them takes longer than there is patience.
TEST_F(SeveralServers, EachIsTriedHoweverLongTheSilentOnesTake) {
  three_.say(welcome_);
  options_.handshake_timeout = 200ms;
  connect({&one_, &two_, &three_}, 100ms);
  EXPECT_TRUE(is_welcome());
  EXPECT_EQ(find<RosterGaveUp>(), nullptr);
}

TEST_F(SeveralServers, WhereAllAreSilentPatienceIsOverThen) {
  options_.handshake_timeout = 50ms;
  connect({&one_, &two_, &three_}, 60ms);
  EXPECT_THAT(wait_for<RosterGaveUp>().why, HasSubstr("could not be reached within"));
}

TEST_F(SeveralServers, OneThatStandsByLeadsToTheHead) {
  one_.say(at(three_));
  three_.say(welcome_);
  connect({&one_, &two_});
  EXPECT_TRUE(is_welcome());
  EXPECT_EQ(two_.visits(), 0);
  EXPECT_EQ(wait_for<RosterConnected>().host, "") << "the same host here";
}

TEST_F(SeveralServers, EvenASingleOneDoes) {
  one_.say(at(two_));
  two_.say(welcome_);
  connect({&one_});
  EXPECT_TRUE(is_welcome());
}

// It was the head until a moment ago.
TEST_F(SeveralServers, AHeadThatIsGoneIsNotTriedAgainAndAgain) {
  const std::string gone = three_.text();
  one_.say(at(three_));
  three_.end();
  two_.say(welcome_);
  connect({&one_, &two_});
  EXPECT_TRUE(is_welcome()) << "back to those that were given";
  EXPECT_EQ(one_.visits(), 1);
}

TEST_F(SeveralServers, TwoThatNameEachOtherAreTriedWithPauses) {
  one_.say(at(two_));
  two_.say(at(one_));
  options_.first_pause = 10ms;
  connect({&one_, &two_}, 300ms);
  EXPECT_THAT(wait_for<RosterGaveUp>().why, HasSubstr("no head now"));
  EXPECT_LT(one_.visits() + two_.visits(), 60);
}

TEST_F(SeveralServers, WhatIsWrongWithEachIsTold) {
  const std::string gone = two_.text();
  one_.say(protocol::Elsewhere{.endpoint = {}, .why = "etcd does not answer"});
  connect({&one_, &two_}, 200ms);
  two_.end();
  EXPECT_EQ(wait_for<RosterUnreachable>().why,
            one_.text() + ": no head now: etcd does not answer; " + gone + ": connection refused");
}

TEST_F(SeveralServers, PatienceBeginsAnewWhileSomebodyIsThere) {
  one_.say(protocol::Elsewhere{.endpoint = {}, .why = "nobody yet"});
  options_.headless_patience = 1500ms;
  options_.longest_pause = 20ms;
  const auto begun = std::chrono::steady_clock::now();
  connect({&one_}, 200ms);
  const RosterGaveUp end = wait_for<RosterGaveUp>();
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 1400ms) << "up to a limit";
  EXPECT_THAT(end.why, HasSubstr("could not be reached within 1.5 s: no head now: nobody yet"));
}

TEST_F(SeveralServers, AStrangerAmongThemEndsNothing) {
  one_.say_nonsense();
  two_.say(welcome_);
  connect({&one_, &two_});
  EXPECT_TRUE(is_welcome());
}

TEST_F(SeveralServers, WhereAllAreStrangersThereIsNoHope) {
  one_.say_nonsense();
  two_.say_nonsense();
  connect({&one_, &two_});
  const RosterGaveUp end = wait_for<RosterGaveUp>();
  EXPECT_TRUE(end.stranger);
  EXPECT_THAT(end.why, HasSubstr(one_.text() + " is taken by"));
  EXPECT_THAT(end.why, HasSubstr(two_.text() + " is taken by"));
}

}  // namespace
}  // namespace ddprun::client
