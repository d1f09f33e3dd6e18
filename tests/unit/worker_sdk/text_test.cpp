#include "worker_sdk/src/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ddp::detail
