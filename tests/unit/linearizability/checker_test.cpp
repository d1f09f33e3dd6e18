// The check itself: histories that a linearizable store can give, those that none can, and those of
// a store with a fault.
#include "tests/unit/linearizability/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/linearizability/simulation.h"

namespace ddprun::linearizability {
namespace {

using testing::HasSubstr;

// Short ways to write histories: each line is one event.
Event set(std::size_t client, std::int64_t from, std::int64_t to, std::string value) {
  return {client, from, to, {Operation::kSet, {"k"}, {std::move(value)}}, Answer{}};
}
Event get(std::size_t client, std::int64_t from, std::int64_t to, std::string value) {
  return {client, from, to, {Operation::kGet, {"k"}}, Answer{.values = {std::move(value)}}};
}
Event add(std::size_t client, std::int64_t from, std::int64_t to, std::int64_t sum) {
  return {client,
          from,
          to,
          {.operation = Operation::kAdd, .keys = {"k"}, .number = 1},
          Answer{.number = sum}};
}
Event push(std::size_t client, std::int64_t from, std::int64_t to, std::string item) {
  return {client, from, to, {Operation::kQueuePush, {"q"}, {std::move(item)}}, Answer{}};
}
Event pop(std::size_t client, std::int64_t from, std::int64_t to, std::int64_t length,
          std::vector<std::string> item) {
  return {client,
          from,
          to,
          {Operation::kQueuePop, {"q"}},
          Answer{.number = length, .values = std::move(item)}};
}
Event unanswered(Event event) {
  event.answer.reset();
  return event;
}

bool is_good(const History& history) {
  return check(history).kind == Verdict::Kind::linearizable;
}
bool is_bad(const History& history) {
  return check(history).kind == Verdict::Kind::violated;
}

TEST(Linearizability, OneClientAloneHasTheOrderInWhichItAsks) {
  EXPECT_TRUE(is_good({}));
  EXPECT_TRUE(
      is_good({set(0, 0, 1, "a"), get(0, 2, 3, "a"), set(0, 4, 5, "b"), get(0, 6, 7, "b")}));
  EXPECT_TRUE(is_bad({set(0, 0, 1, "a"), get(0, 2, 3, "")}));
}

TEST(Linearizability, EventsThatOverlapMayHaveAnyOrder) {
  EXPECT_TRUE(is_good({set(0, 0, 10, "a"), get(1, 1, 9, "")}));
  EXPECT_TRUE(is_good({set(0, 0, 10, "a"), get(1, 1, 9, "a")}));
  // Also where they only touch.
  EXPECT_TRUE(is_good({set(0, 0, 10, "a"), get(1, 10, 12, "")}));
  EXPECT_TRUE(is_bad({set(0, 0, 10, "a"), get(1, 11, 12, "")}));
}

TEST(Linearizability, WhatOneHasReadNobodyReadsOlderLater) {
  EXPECT_TRUE(is_good({set(0, 0, 10, "a"), get(1, 1, 2, ""), get(2, 3, 4, "a")}));
  EXPECT_TRUE(is_bad({set(0, 0, 10, "a"), get(1, 1, 2, "a"), get(2, 3, 4, "")}));
}

TEST(Linearizability, ALostUpdateIsFound) {
  EXPECT_TRUE(is_good({add(0, 0, 5, 2), add(1, 0, 5, 1)}));
  EXPECT_TRUE(is_bad({add(0, 0, 5, 1), add(1, 0, 5, 1)}));
}

TEST(Linearizability, TheOrderMayHaveToBeTakenBackFarBehind) {
  // Three overlap a long time; only one of six orders fits what follows.
  const History begin{set(0, 0, 9, "a"), set(1, 0, 9, "b"), set(2, 0, 9, "c")};
  History good = begin, bad = begin;
  for (const Event& event : {get(3, 1, 2, "b"), get(3, 3, 4, "c"), get(3, 10, 11, "a")})
    good.push_back(event);
  for (const Event& event : {get(3, 1, 2, "b"), get(3, 3, 4, "c"), get(3, 10, 11, "b")})
    bad.push_back(event);
  EXPECT_TRUE(is_good(good));
  EXPECT_TRUE(is_bad(bad));
}

TEST(Linearizability, RequestsOfOneClientKeepTheirOrderThoughItHasNotWaited) {
  EXPECT_TRUE(is_good({set(0, 0, 9, "a"), get(0, 0, 9, "a")}));
  EXPECT_TRUE(is_bad({set(0, 0, 9, "a"), get(0, 0, 9, "")}));
  EXPECT_TRUE(is_good({set(0, 0, 9, "a"), get(1, 0, 9, "")}));
}

TEST(Linearizability, ARequestWithoutAnswerMayHaveHappenedAtAnyTimeOrNever) {
  const Event cut_off = unanswered(set(0, 0, 0, "a"));
  EXPECT_TRUE(is_good({cut_off, get(1, 5, 6, "")}));
  EXPECT_TRUE(is_good({cut_off, get(1, 5, 6, ""), get(1, 7, 8, "a")}));
  EXPECT_TRUE(is_bad({cut_off, get(1, 5, 6, "a"), get(1, 7, 8, "")}));
  // Not before it was asked.
  EXPECT_TRUE(is_bad({unanswered(set(0, 7, 7, "a")), get(1, 5, 6, "a")}));
}

TEST(Linearizability, AQueueGivesEachItemOnceAndInOrder) {
  EXPECT_TRUE(is_good({push(0, 0, 1, "a"), push(0, 2, 3, "b"), pop(1, 4, 5, 2, {"a"}),
                       pop(1, 6, 7, 1, {"b"}), pop(1, 8, 9, 0, {})}));
  EXPECT_TRUE(is_bad({push(0, 0, 1, "a"), push(0, 2, 3, "b"), pop(1, 4, 5, 2, {"b"})}));
  EXPECT_TRUE(is_bad({push(0, 0, 1, "a"), pop(1, 2, 9, 1, {"a"}), pop(2, 2, 9, 1, {"a"})}));
  EXPECT_TRUE(is_bad({push(0, 0, 1, "a"), pop(1, 2, 3, 0, {})}));
}

TEST(Linearizability, AWaitEndsOnlyWhereTheKeyIsThere) {
  const auto wait = [](std::int64_t from, std::int64_t to, bool came) {
    return Event{1, from, to, {Operation::kWait, {"k"}}, Answer{.ready = came}};
  };
  EXPECT_TRUE(is_good({set(0, 5, 6, "a"), wait(0, 9, true)}));
  EXPECT_TRUE(is_bad({set(0, 5, 6, "a"), wait(0, 4, true)}));
  EXPECT_TRUE(is_bad({set(0, 5, 6, "a"), wait(7, 9, false)}));
}

TEST(Linearizability, KeysThatARequestHasTogetherAreJudgedTogether) {
  const auto read = [](std::size_t client, std::vector<std::string> values) {
    return Event{client, 2, 9, {Operation::kMultiGet, {"a", "b"}}, Answer{.values = values}};
  };
  const Event write{0, 0, 5, {Operation::kMultiSet, {"a", "b"}, {"1", "2"}}, Answer{}};
  EXPECT_TRUE(is_good({write, read(1, {"", ""}), read(2, {"1", "2"})}));
  EXPECT_TRUE(is_bad({write, read(1, {"1", ""})}));
}

TEST(Linearizability, AViolationNamesTheKeyAndWhatCannotBe) {
  const Verdict verdict = check({set(0, 0, 1, "a"), get(1, 2, 3, "stale")});
  EXPECT_THAT(verdict.text, HasSubstr("keys with 'k'"));
  EXPECT_THAT(verdict.text,
              HasSubstr("none can follow:\n  client 1 from 2 to 3: GET 'k' = 0 'stale'"));
}

TEST(Linearizability, WhatTakesTooLongIsCalledUndecided) {
  History history;
  for (std::size_t client = 0; client < 20; ++client)
    history.push_back(set(client, 0, 100, std::to_string(client)));
  history.push_back(get(30, 101, 102, "nobody's"));
  EXPECT_EQ(check(history, 1'000).kind, Verdict::Kind::undecided);
}

TEST(LinearizabilityOfTheStore, RandomSchedulesOfTheRealStoreAreFine) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Verdict verdict = check(simulate(seed, Fault::none));
    ASSERT_EQ(verdict.kind, Verdict::Kind::linearizable) << "seed " << seed << ": " << verdict.text;
  }
}

class FaultyStore : public testing::TestWithParam<Fault> {};

TEST_P(FaultyStore, IsFound) {
  constexpr unsigned kSeeds = 20;
  unsigned found = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed)
    found += check(simulate(seed, GetParam())).kind == Verdict::Kind::violated ? 1U : 0U;
  EXPECT_GE(found, kSeeds / 4);
}

INSTANTIATE_TEST_SUITE_P(Each, FaultyStore,
                         testing::Values(Fault::lost_update, Fault::stale_read, Fault::late_write,
                                         Fault::torn_write, Fault::split_compare, Fault::item_twice,
                                         Fault::lost_item, Fault::early_wake,
                                         Fault::forgotten_delete));

}  // namespace
}  // namespace ddprun::linearizability
