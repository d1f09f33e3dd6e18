// Names, ranks, terms and sentences.
#include <gtest/gtest.h>

#include "rendezvous/roster/natural_order.h"
#include "rendezvous/roster/ranks.h"
#include "rendezvous/roster/terms.h"
#include "rendezvous/roster/wording.h"

namespace ddprun::roster {
namespace {

using namespace std::chrono_literals;

TEST(NaturalOrder, NumbersAreComparedAsNumbers) {
  EXPECT_TRUE(natural_less("node2", "node10"));
  EXPECT_FALSE(natural_less("node10", "node2"));
  EXPECT_TRUE(natural_less("rack2-node9", "rack10-node1"));
  EXPECT_TRUE(natural_less("a", "b"));
  EXPECT_TRUE(natural_less("node", "node1"));
  EXPECT_TRUE(natural_less("n99999999999999999999998", "n99999999999999999999999"));
  EXPECT_TRUE(natural_less("n0", "n1"));
}

TEST(NaturalOrder, IsAStrictOrder) {
  const std::vector<std::string> names{"",   "0",   "00", "1",   "01", "a",
                                       "a0", "a00", "a1", "a01", "b"};
  for (const auto& a : names)
    for (const auto& b : names)
      EXPECT_EQ(natural_less(a, b) + natural_less(b, a), a == b ? 0 : 1) << a << " and " << b;
}

std::vector<std::string> order(const std::vector<Candidate>& candidates, std::size_t nodes = 99) {
  std::vector<std::string> names;
  for (const std::size_t i : node_order(candidates, nodes)) names.push_back(candidates[i].node);
  return names;
}

using Names = std::vector<std::string>;

TEST(Ranks, NewcomersStandInNaturalOrder) {
  EXPECT_EQ(order({{"node10"}, {"node2"}, {"node1"}}), (Names{"node1", "node2", "node10"}));
}

TEST(Ranks, AWantedRankIsGiven) {
  EXPECT_EQ(order({{"a", 2}, {"b", 0}, {"c", 1}}), (Names{"b", "c", "a"}));
  EXPECT_EQ(order({{"a"}, {"b", 0}, {"c"}}), (Names{"b", "a", "c"}));
  EXPECT_EQ(order({{"a"}, {"b", 0}, {"c", {}, 0}}), (Names{"b", "c", "a"}));
}

TEST(Ranks, AWantedRankBeyondTheWorldStandsBehind) {
  EXPECT_EQ(order({{"a", 5}, {"b", 4}, {"c"}}), (Names{"c", "b", "a"}));
}

TEST(Ranks, SurvivorsKeepTheirsAndTheRestFillsTheGaps) {
  EXPECT_EQ(order({{"x"}, {"c", {}, 2}, {"a", {}, 0}}), (Names{"a", "x", "c"}));
  EXPECT_EQ(order({{"d", {}, 3}, {"c", {}, 2}}), (Names{"c", "d"}));
}

TEST(Ranks, TheServersHostIsRankZeroUnlessAnotherWantsIt) {
  EXPECT_EQ(order({{"a"}, {"b", {}, {}, true}}), (Names{"b", "a"}));
  EXPECT_EQ(order({{"a", 0}, {"b", {}, {}, true}}), (Names{"a", "b"}));
}

TEST(Ranks, OfTooManyTheOldOnesAndThenTheFirstStay) {
  EXPECT_EQ(order({{"c"}, {"a"}, {"b", {}, 1}}, 2), (Names{"c", "b"}));
  EXPECT_EQ(order({{"c"}, {"a"}, {"b", {}, {}, true}}, 1), (Names{"b"}));
}

Join join(const std::string& name) {
  return {.run = "r",
          .node = name,
          .version = "0.1.0",
          .addresses = {"10.0.0.1"},
          .min_nodes = 2,
          .max_nodes = 2};
}

std::string conflict_with_a(const Join& other) {
  return conflict(terms_of(join("a"), {}), other).value_or("none");
}

TEST(Terms, BothValuesAndBothNodesAreNamed) {
  EXPECT_EQ(conflict_with_a(join("b")), "none");
  Join other = join("b");
  other.max_nodes = 3;
  EXPECT_EQ(
      conflict_with_a(other),
      "node b says --nnodes 2:3, node a says --nnodes 2: all nodes of run r must say the same");
  other = join("b");
  other.max_restarts = 1;
  EXPECT_EQ(
      conflict_with_a(other),
      "node b says --max-restarts 1, node a says --max-restarts 0: all nodes of run r must say "
      "the same");
  other = join("b");
  other.version = "0.2.0";
  EXPECT_EQ(conflict_with_a(other),
            "node b runs ddprun 0.2.0, node a runs ddprun 0.1.0: install the same version on all "
            "nodes");
  other = join("b");
  other.static_ranks = true;
  EXPECT_NE(conflict_with_a(other).find("node b says --rdzv-backend static"), std::string::npos);
}

TEST(Terms, AnImpossibleRankIsRefused) {
  Join other = join("b");
  other.node_rank = 2;
  EXPECT_EQ(conflict_with_a(other),
            "node b wants node rank 2, but --nnodes 2 has node ranks 0 to 1 only");
  other = join("b");
  other.addresses.clear();
  EXPECT_EQ(conflict_with_a(other), "node b gives no address of its own");
}

TEST(Terms, VersionsOfOneGenerationAreCompatible) {
  EXPECT_TRUE(compatible("0.1.0", "0.1.9"));
  EXPECT_FALSE(compatible("0.1.0", "0.2.0"));
  EXPECT_TRUE(compatible("1.2.0", "1.3.0"));
  EXPECT_FALSE(compatible("1.2.0", "2.0.0"));
  EXPECT_TRUE(compatible("x", "x"));
  EXPECT_FALSE(compatible("x", "y"));
}

TEST(Wording, RanksAreGathered) {
  EXPECT_EQ(rank_text({3}), "node rank 3");
  EXPECT_EQ(rank_text({1, 2, 3, 7}), "node ranks 1-3, 7");
}

TEST(Wording, Endings) {
  EXPECT_EQ(ending_text(3, {}), "exit code 3");
  EXPECT_EQ(ending_text({}, 11), "SIGSEGV");
}

TEST(Wording, WhoIsMissingStaysShortInLargeWorlds) {
  Gathering all{.run = "r", .min_nodes = 2000, .max_nodes = 2000};
  for (int i = 0; i < 1000; ++i) all.here.push_back("node" + std::to_string(i));
  const std::string text = waiting_text(all);
  EXPECT_LT(text.size(), 400u) << text;
  EXPECT_NE(text.find("1000 of 2000 nodes are here (node0, "), std::string::npos) << text;
  EXPECT_NE(text.find("and 984 more), 1000 nodes are missing"), std::string::npos) << text;
}

}  // namespace
}  // namespace ddprun::roster
