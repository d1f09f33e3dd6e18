#include "tests/bench/report/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ddprun::bench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// One group with a peer, a row with all that a row can have and one that was not measured.
std::vector<bench::Result> results(const std::string& group) {
  Row peer{"torchrun", "ms"}, ours{"ddprun", "ms", ratio_at_most(0.5), "torchrun"};
  for (int round = 0; round < 6; ++round) {
    peer.values.emplace_back(10.0 + round);
    ours.values.emplace_back((10.0 + round) / 3);
  }
  Probe missing{{{"srun", "ms", median_at_most(3)}}, {}};
  missing.missing = "no Slurm";
  return results_of({{group, {{{peer}, {}}, {{ours}, {}}, missing}}});
}

Figures measured(const std::string& group, const std::string& load) {
  return {{{"kernel", "Linux 6"}, {"load", load}}, results(group)};
}

TEST(FiguresTest, AFileHoldsAllThatTheTableShows) {
  const auto before = results("launch");
  const auto read = figures_from("a.json", json({{"kernel", "Linux 6"}}, 6, before));
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(markdown_table(read->results), markdown_table(before));
  EXPECT_EQ(text_table(read->results), text_table(before));
  EXPECT_THAT(read->facts, ElementsAre(std::pair("kernel", "Linux 6")));
  EXPECT_EQ(read->results[1].values, before[1].values);
  EXPECT_EQ(read->results[1].row.peer, "torchrun");
}

TEST(FiguresTest, AnotherFileIsRefusedByName) {
  for (const char* text : {"", "{}", "[1]", "{\"facts\": {}, \"rows\": [{\"group\": 1}]}"}) {
    const auto read = figures_from("a.json", text);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().text, HasSubstr("a.json holds no figures"));
  }
}

TEST(FiguresTest, TheLaterFileOfAGroupCounts) {
  const auto all =
      merged({measured("launch", "1"), measured("fail", "2"), measured("launch", "3")});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].facts[1].second, "2");
  EXPECT_EQ(all[1].facts[1].second, "3");
  EXPECT_THAT(groups_of(all), ElementsAre("fail", "launch"));
}

TEST(FiguresTest, WhatFilesAgreeOnIsSaidOnce) {
  const std::string text = figures_section({measured("launch", "1"), measured("fail", "2")},
                                           {{"fail", "pictures/bench-fail.svg", "From death"}});
  EXPECT_THAT(text, testing::StartsWith("* kernel: Linux 6\n\n### launch\n\nload: 1\n\n| what |"));
  EXPECT_THAT(text, HasSubstr("\n### fail\n\n![From death](pictures/bench-fail.svg)\n\nload: 2\n"));
  EXPECT_THAT(text, HasSubstr("| srun | not measured: no Slurm |"));
}

TEST(PageTest, WhatStandsAroundTheFiguresStays) {
  const std::string page = std::string("before\n") + kBeginMark + "old\n" + kEndMark + "after\n";
  const auto changed = with_section(page, "new\n");
  ASSERT_TRUE(changed);
  EXPECT_EQ(*changed, std::string("before\n") + kBeginMark + "new\n" + kEndMark + "after\n");
  EXPECT_EQ(*with_section(*changed, "old\n"), page);
}

TEST(PageTest, APageWithoutMarksIsRefused) {
  for (const std::string& page :
       {std::string("text\n"), std::string(kBeginMark), std::string(kEndMark) + kBeginMark})
    EXPECT_FALSE(with_section(page, "new\n")) << page;
}

}  // namespace
}  // namespace ddprun::bench
