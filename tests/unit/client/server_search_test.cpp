// Which place is tried next, when, and what is said of those before.
#include "rendezvous/client/server_search.h"

#include <gtest/gtest.h>

namespace ddprun::client {
namespace {

using namespace std::chrono_literals;
using Next = ServerSearch::Next;

class Search : public testing::Test {
 protected:
  explicit Search(std::vector<Endpoint> places = {{"a", 1}}) : places_(std::move(places)) {}

  ServerSearch search(std::chrono::nanoseconds patience = 20s,
                      std::chrono::nanoseconds headless = 0s) const {
    return {{.places = places_,
             .headless_patience = headless,
             .first_pause = 2ms,
             .longest_pause = 5ms,
             .stranger_after = 5s},
            patience,
            patience,
            now_};
  }
  static std::string here(const ServerSearch& search) { return to_text(search.here()); }
  static protocol::Elsewhere head_at(const std::string& endpoint) {
    return {.endpoint = endpoint, .why = "b is the head"};
  }

  const ServerSearch::Time now_{};
  std::vector<Endpoint> places_;
};

struct OfSeveral : Search {
  OfSeveral() : Search({{"a", 1}, {"b", 2}, {"c", 3}}) {}
};

TEST_F(Search, PausesDoubleUpToTheLongest) {
  auto one = search();
  for (const auto pause : {2ms, 4ms, 5ms, 5ms}) {
    EXPECT_EQ(one.try_later("connection refused").pause, pause);
    EXPECT_EQ(here(one), "a:1");
  }
}

TEST_F(Search, WhatIsKnownAlreadyIsNoNews) {
  auto one = search();
  EXPECT_EQ(one.try_later("connection refused").news, "connection refused");
  EXPECT_EQ(one.try_later("connection refused").news, std::nullopt);
  EXPECT_EQ(one.try_later("no answer in time").news, "no answer in time");
  one.found("looking up 'a' has no answer yet");
  EXPECT_EQ(one.take_news(), "looking up 'a' has no answer yet");
  EXPECT_EQ(one.take_news(), std::nullopt);
}

TEST_F(OfSeveral, AreAllTriedHoweverLongTheSilentOnesTake) {
  auto all = search(1s);
  EXPECT_FALSE(all.is_over(now_ + 3s));
  for (int i = 0; i < 2; ++i) all.try_later("no answer in time");
  EXPECT_FALSE(all.is_over(now_ + 3s));
  all.try_later("no answer in time");
  EXPECT_TRUE(all.is_over(now_ + 3s));
  EXPECT_FALSE(all.is_over(now_ + 900ms)) << "there is patience left";
}

TEST_F(Search, IsOverWithItsPatience) {
  const auto one = search(1s);
  EXPECT_FALSE(one.is_over(now_ + 900ms));
  EXPECT_TRUE(one.is_over(now_ + 1s));
}

TEST_F(OfSeveral, AreTriedAtOnceAfterOneAnotherAndThenWithAPause) {
  auto all = search();
  EXPECT_EQ(here(all), "a:1");
  const Next second = all.try_later("connection refused");
  EXPECT_EQ(second.pause, 0ns);
  EXPECT_EQ(second.news, std::nullopt) << "others were not tried yet";
  EXPECT_EQ(here(all), "b:2");
  all.try_later(" is taken by a web server");
  EXPECT_EQ(here(all), "c:3");
  const Next again = all.try_later("no answer in time");
  EXPECT_EQ(again.pause, 2ms);
  EXPECT_EQ(again.news,
            "a:1: connection refused; b:2 is taken by a web server; c:3: no answer in time");
  EXPECT_EQ(here(all), "a:1");
}

TEST_F(Search, WhereThereIsNoHopeItEnds) {
  auto one = search();
  EXPECT_EQ(one.give_up(" is taken by a web server").hopeless, "a:1 is taken by a web server");
}

TEST_F(OfSeveral, EndOnlyWhereAllAreHopeless) {
  auto all = search();
  EXPECT_FALSE(all.give_up(" is taken by a web server").hopeless);
  EXPECT_FALSE(all.give_up(": TLS: no").hopeless);
  all.try_later("connection refused");
  EXPECT_EQ(here(all), "a:1");
  EXPECT_FALSE(all.give_up(" is taken by a web server").hopeless) << "c may come yet";
  all.on_server();  // b is one now
  all.try_later("its connection was reset");
  EXPECT_FALSE(all.give_up(": TLS: no").hopeless) << "b may be one again";
  all.try_later("connection refused");
  EXPECT_EQ(here(all), "b:2");
  EXPECT_EQ(all.give_up(": it is full").hopeless,
            "a:1: connection refused; b:2: it is full; c:3: TLS: no");
}

TEST_F(OfSeveral, AreAllNamedWhereAllAreHopeless) {
  auto all = search();
  all.give_up(" is taken by a web server");
  all.give_up(": it is full");
  EXPECT_EQ(all.give_up(": TLS: no").hopeless,
            "a:1 is taken by a web server; b:2: it is full; c:3: TLS: no");
}

TEST_F(Search, OneThatStandsByLeadsToTheHeadOnce) {
  auto one = search();
  const Next next = one.go_elsewhere(head_at("b:2"), now_);
  EXPECT_EQ(next.pause, 0ns);
  EXPECT_EQ(here(one), "b:2");
  EXPECT_EQ(one.go_elsewhere(head_at("c:3"), now_).news,
            "the head is to be at b:2: no head now: b is the head");
  EXPECT_EQ(here(one), "a:1");
}

TEST_F(Search, AfterAConnectionItIsNewsThatThereIsNone) {
  auto one = search();
  const protocol::Elsewhere nowhere{.endpoint = {}, .why = "none is elected"};
  EXPECT_EQ(one.go_elsewhere(nowhere, now_).news, "no head now: none is elected");
  EXPECT_EQ(one.go_elsewhere(nowhere, now_).news, "no head now: none is elected");
}

TEST_F(Search, AHeadThatIsAStrangerIsNotTheEnd) {
  auto one = search();
  one.go_elsewhere(head_at("b:2"), now_);
  const Next next = one.give_up(" is taken by a web server");
  EXPECT_FALSE(next.hopeless);
  EXPECT_EQ(here(one), "a:1") << "another one may be the head by now";
}

TEST_F(Search, WhereNoHeadIsKnownItIsTriedAgain) {
  auto one = search();
  EXPECT_EQ(one.go_elsewhere({.endpoint = {}, .why = "none is elected"}, now_).news,
            "no head now: none is elected");
  EXPECT_EQ(one.go_elsewhere(head_at(":::"), now_).pause, 4ms) << "that is no endpoint";
  EXPECT_EQ(one.go_elsewhere(head_at(":2"), now_).pause, 5ms) << "that is no host";
  EXPECT_EQ(here(one), "a:1");
}

TEST_F(Search, PatienceBeginsAnewWhileSomebodyIsThereUpToALimit) {
  auto one = search(10s, 25s);
  EXPECT_EQ(one.deadline(), now_ + 10s);
  one.go_elsewhere({.endpoint = {}, .why = "w"}, now_ + 8s);
  EXPECT_EQ(one.deadline(), now_ + 18s);
  one.go_elsewhere({.endpoint = {}, .why = "w"}, now_ + 17s);
  EXPECT_EQ(one.deadline(), now_ + 25s);
  auto patient = search(30s, 25s);
  patient.go_elsewhere({.endpoint = {}, .why = "w"}, now_ + 1s);
  EXPECT_EQ(patient.deadline(), now_ + 30s) << "it never comes nearer";
  EXPECT_EQ(one.out_of_time(false), "a:1 could not be reached within 25 s: no head now: w");
  auto impatient = search(10s);
  impatient.go_elsewhere({.endpoint = {}, .why = "w"}, now_ + 8s);
  EXPECT_EQ(impatient.deadline(), now_ + 10s);
}

TEST_F(Search, ATryThatHasOnlyBegunHasNothingToSay) {
  auto one = search();
  one.found("no answer in time");
  EXPECT_EQ(one.out_of_time(false), "a:1 could not be reached within 20 s: no answer in time");
  one.try_later("connection refused");
  one.found("no answer in time");
  EXPECT_EQ(one.out_of_time(false), "a:1 could not be reached within 20 s: connection refused");
  one.found("it takes connections and does not answer");
  EXPECT_EQ(one.out_of_time(true),
            "a:1 could not be reached within 20 s: it takes connections and does not answer");
}

TEST_F(OfSeveral, AreAllNamedAtTheEnd) {
  auto all = search();
  for (int i = 0; i < 3; ++i) all.try_later("connection refused");
  all.found("it takes connections and does not answer");
  EXPECT_EQ(all.out_of_time(true),
            "a:1,b:2,c:3 could not be reached within 20 s: a:1: connection refused; b:2: "
            "connection refused; c:3: connection refused");
}

TEST_F(Search, WhoClosesEachConnectionForLongIsAStranger) {
  auto one = search();
  EXPECT_FALSE(one.is_silent_stranger(now_));
  EXPECT_FALSE(one.is_silent_stranger(now_ + 4s));
  EXPECT_TRUE(one.is_silent_stranger(now_ + 5s));
  one.on_refused();
  EXPECT_FALSE(one.is_silent_stranger(now_ + 6s)) << "it had ended";
  one.on_server();
  EXPECT_FALSE(one.is_silent_stranger(now_ + 12s)) << "it has said a word";
}

}  // namespace
}  // namespace ddprun::client
