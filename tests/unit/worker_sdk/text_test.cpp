#include "worker_sdk/src/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace ddp::detail {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(RankList, JoinsNeighbours) {
  EXPECT_EQ(rank_list({}), "none");
  EXPECT_EQ(rank_list({4}), "4");
  EXPECT_EQ(rank_list({0, 1}), "0, 1");
  EXPECT_EQ(rank_list({0, 1, 2, 3, 5, 7, 8, 9}), "0-3, 5, 7-9");
}

TEST(Seconds, HaveOneDigit) {
  EXPECT_EQ(seconds(std::chrono::milliseconds(2'549)), "2.5 s");
}

TEST(ExplainGloo, DropsTheSourceAndSaysWhatItMeans) {
  const std::string text = explain_gloo(
      "[../third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer "
      "[127.0.0.1]:1234");
  EXPECT_THAT(text,
              StartsWith("Connection closed by peer [127.0.0.1]:1234. Another rank has ended"));
}

TEST(ExplainGloo, ATimeOutIsNotALostConnection) {
  EXPECT_THAT(explain_gloo("[/gloo/unbound_buffer.cc:81] Timed out waiting 1000ms for recv"),
              HasSubstr("Another rank does not take part"));
}

TEST(ExplainGloo, NamesTheRanksThatAreKnown) {
  EXPECT_EQ(explain_gloo("Connection closed by peer [::1]:5", {4}),
            "Connection closed by peer [::1]:5. Rank 4 has ended or lost its connection: look at "
            "what it wrote before this line");
  EXPECT_THAT(explain_gloo("Timed out waiting", {1, 3}),
              HasSubstr(". Ranks 1, 3 do not take part: they hang, "));
}

TEST(ExplainGloo, SaysWhatAnEarlierTimeOutMeans) {
  const std::string closed = "[/gloo/pair.cc:9] Application timeout caused pair closure";
  EXPECT_TRUE(is_late_peer(closed));
  EXPECT_EQ(
      explain_gloo(closed, {1}),
      "an operation of the group timed out, so that Gloo closed its connections and the group "
      "is of no use any more. Rank 1 does not take part: it hangs, is slower than the "
      "time-out, or calls other collectives");
}

TEST(ExplainGloo, NamesRanksOfWhichOneIsMeant) {
  EXPECT_THAT(explain_gloo("Timed out waiting", {1, 3}, /*sure=*/false),
              HasSubstr(". One of the ranks 1, 3 does not take part: it hangs, "));
  EXPECT_THAT(explain_gloo("Timed out waiting", {3}, /*sure=*/false),
              HasSubstr(". Rank 3 does not take part: it hangs, "));
}

TEST(FailedBarrier, NamesItsMissingMembers) {
  const std::string said = "[Rank 0]: Ranks 3, 1 failed to pass monitoredBarrier in 4000 ms";
  EXPECT_TRUE(is_failed_barrier(said));
  EXPECT_EQ(missing_at_barrier(said), (std::vector{1, 3}));
  EXPECT_EQ(explain_gloo(said, {1, 3}),
            "the ranks did not meet before it. Ranks 1, 3 did not come: they have ended, hang, are "
            "slower than the time-out, or call other collectives");
  // Of another rank, which hears of it from rank 0.
  const std::string told =
      "Rank 2 successfully reached monitoredBarrier, but received errors while waiting to be "
      "unblocked by rank 0. Please check rank 0 logs for faulty rank.\n Original exception: \n"
      "[/gloo/pair.cc:547] Connection closed by peer [127.0.0.1]:1";
  EXPECT_TRUE(is_failed_barrier(told));
  EXPECT_TRUE(missing_at_barrier(told).empty());
  // Something else, over which nobody may think for minutes.
  EXPECT_TRUE(missing_at_barrier("Ranks " + std::string(80, '3') + ", 2 and 1 came late").empty());
  EXPECT_TRUE(missing_at_barrier("Ranks failed to pass monitoredBarrier").empty());
  EXPECT_THAT(explain_gloo(told, {1}), StartsWith("the ranks did not meet before it. Rank 1 did "));
}

TEST(ExplainGloo, LeavesOtherTextsAlone) {
  EXPECT_EQ(explain_gloo("[1, 2] is no shape"), "[1, 2] is no shape");
  EXPECT_EQ(explain_gloo("Invalid scalar type"), "Invalid scalar type");
}

TEST(WithGlobalRanks, CountsAsTheUserDoes) {
  EXPECT_EQ(with_global_ranks("Rank 0 is here, but Rank 1: [0, 1]", {3, 12}),
            "Rank 3 is here, but Rank 12: [0, 1]");
  EXPECT_EQ(with_global_ranks("Rank 7 and rank 0", {3}), "Rank 7 and rank 0");
}

TEST(WaitsForAll, IsFalseWhereARankIsDoneWhenItHasSentItsPart) {
  for (const char* name : {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "barrier"}) {
    EXPECT_TRUE(waits_for_all(name)) << name;
  }
  for (const char* name : {"send", "recv", "gather", "reduce", "scatter", "broadcast"}) {
    EXPECT_FALSE(waits_for_all(name)) << name;
  }
}

std::string reducer_says(const std::string& indices) {
  return "Expected to have finished reduction in the prior iteration before starting a new one. "
         "Parameter indices which did not receive grad for rank 1:" +
         indices + "\n In addition, you can set the environment variable";
}

TEST(Unused, TheParametersAreNamed) {
  const std::unordered_map<std::size_t, std::string> names{{0, "a.weight"}, {3, "b.bias"}};
  EXPECT_EQ(explain_unused(reducer_says(" 0 3 7"), names, false),
            "in the last backward no gradient came for a.weight, b.bias, parameter 7: set "
            "find_unused_parameters if not all parameters take part in every step; else every "
            "output of forward must take part in the loss");
  EXPECT_EQ(explain_unused(reducer_says(" 3"), names, true),
            "in the last backward no gradient came for b.bias: every output of forward must take "
            "part in the loss");
}

TEST(Unused, OfManyTheFirstOnesAreNamed) {
  const std::string text = explain_unused(reducer_says(" 0 1 2 3 4 5 6 7 8 9"), {}, false);
  EXPECT_THAT(text, testing::HasSubstr("parameter 7 and 2 more: "));
}

void explain_too_late() {
  const bool right = with_global_ranks("Rank 1 is late", {5, 7}) == "Rank 7 is late" &&
                     missing_at_barrier("Ranks 1, 3 failed to pass monitoredBarrier in 1 ms") ==
                         std::vector<int>{1, 3} &&
                     !waits_for_all("send");
  if (!right) std::_Exit(3);
}

// The main thread ends with the first failure, while a thread of Gloo explains the next one.
TEST(AnExplanation, IsPossibleWhileTheProcessEnds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // so that nothing has been explained before
  EXPECT_EXIT(
      {
        std::atexit(explain_too_late);  // comes behind the destructors of what is made after it
        explain_too_late();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(Unused, AnotherTextStaysAsItIs) {
  for (const std::string& text :
       {std::string("connection reset"), reducer_says(""), reducer_says(" 1") + " static_graph"})
    EXPECT_EQ(explain_unused(text, {}, false), text);
}

}  // namespace
}  // namespace ddp::detail
