#include "rendezvous/roster/stacks_requests.h"

#include <gtest/gtest.h>

namespace ddprun::roster {
namespace {

using namespace std::chrono_literals;

class Stacks : public testing::Test {
 protected:
  // "a: /tmp/a; b: gone" of the only request that is finished.
  std::string finished() {
    const auto all = requests_.take_finished(now_);
    if (all.size() != 1) return std::to_string(all.size()) + " are finished";
    EXPECT_EQ(all.front().asker, kAsker);
    std::string text;
    for (const auto& node : all.front().answer.nodes)
      text += (text.empty() ? "" : "; ") + node.node + ": " +
              (node.failed ? *node.failed : node.path.value_or("?"));
    return text;
  }

  static constexpr MemberId kAsker = 9, kA = 1, kB = 2;
  Time now_{};
  StacksRequests requests_{15s};
  const std::uint64_t id_ = requests_.begin(now_, kAsker, {{kA, "a"}, {kB, "b"}});
};

TEST_F(Stacks, AreThereWhenAllHaveAnswered) {
  requests_.on_done(kB, {id_, "/tmp/b", {}});
  EXPECT_EQ(finished(), "0 are finished");
  requests_.on_done(kA, {id_, {}, "no gdb"});
  EXPECT_EQ(finished(), "b: /tmp/b; a: no gdb");
  EXPECT_EQ(finished(), "0 are finished") << "it is answered once";
  EXPECT_FALSE(requests_.wake_at());
}

TEST_F(Stacks, WhoIsLostOrSilentIsNotWaitedFor) {
  requests_.on_closed(kB, "its connection was reset");
  EXPECT_EQ(requests_.wake_at(), now_ + 15s);
  now_ += 15s - 1ns;
  EXPECT_EQ(finished(), "0 are finished");
  now_ += 1ns;
  EXPECT_EQ(finished(), "b: its connection was reset; a: it did not answer within 15 s");
}

TEST_F(Stacks, TheFirstThatWaitsForTooLongIsLookedAfter) {
  requests_.begin(now_ + 5s, 8, {{kA, "a"}});
  EXPECT_EQ(requests_.wake_at(), now_ + 15s);
}

TEST_F(Stacks, WhatNobodyHasAskedForIsIgnored) {
  requests_.on_done(kA, {id_ + 1, "/tmp/x", {}});
  requests_.on_done(7, {id_, "/tmp/x", {}});
  requests_.on_done(kA, {id_, "/tmp/a", {}});
  requests_.on_done(kA, {id_, "/tmp/again", {}});
  EXPECT_EQ(finished(), "0 are finished");
  requests_.on_done(kB, {id_, "/tmp/b", {}});
  EXPECT_EQ(finished(), "a: /tmp/a; b: /tmp/b");
}

TEST_F(Stacks, WhoeverHasAskedAndGoneIsForgotten) {
  requests_.begin(now_, 8, {{kA, "a"}});
  EXPECT_EQ(requests_.askers(), (std::vector<MemberId>{kAsker, 8}));
  requests_.on_closed(kAsker, "its connection was reset");
  EXPECT_EQ(requests_.askers(), std::vector<MemberId>{8});
  EXPECT_TRUE(requests_.forget(8));
  EXPECT_FALSE(requests_.forget(8));
  EXPECT_FALSE(requests_.wake_at());
}

TEST_F(Stacks, OfARunWithoutNodesAreThereAtOnce) {
  requests_.forget(kAsker);
  requests_.begin(now_, kAsker, {});
  EXPECT_EQ(finished(), "");
}

}  // namespace
}  // namespace ddprun::roster
