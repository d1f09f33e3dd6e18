#include "tests/bench/report/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "tests/unit/http/tag_check.h"

namespace ddprun::bench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Chart chart_of(std::vector<Bar> bars, Chart::Scale scale = Chart::Scale::linear) {
  return {"A title", "Milliseconds", scale, {{"2 workers", std::move(bars)}}};
}

// Of the bars, from top to bottom.
std::vector<double> widths_of(const std::string& svg) {
  static const std::regex kBar(
      "<rect class=\"(own|peer|floor)\" x=\"[0-9.]+\" y=\"[0-9.]+\" width=\"([0-9.]+)\"");
  std::vector<double> widths;
  for (std::sregex_iterator bar(svg.begin(), svg.end(), kBar), end; bar != end; ++bar)
    widths.push_back(std::stod((*bar)[2]));
  return widths;
}

TEST(ChartTest, IsWellFormedWhateverItShows) {
  const std::vector<Bar> none, odd{{"<&>\"'", 1.5}, {"left out", std::nullopt}};
  for (const Chart::Scale scale : {Chart::Scale::linear, Chart::Scale::logarithmic})
    for (const auto& bars : {none, odd}) {
      const std::string text = svg(chart_of(bars, scale));
      EXPECT_EQ(http::html_fault(text), "") << text;
      EXPECT_THAT(text, Not(HasSubstr("nan")));
    }
  EXPECT_EQ(http::html_fault(svg({})), "");
}

TEST(ChartTest, TextIsNoMarkup) {
  Chart chart = chart_of({{"a<b", 1}});
  chart.title = "this & that";
  EXPECT_THAT(svg(chart), AllOf(HasSubstr(">a&lt;b</text>"), Not(HasSubstr("a<b")),
                                HasSubstr(">this &amp; that</title>")));
}

TEST(ChartTest, ShowsEveryTitleLabelAndValue) {
  const std::string text = svg(chart_of({{"ddprun", 4.29, Role::own}, {"torchrun", 2659}}));
  for (const char* word : {">A title</text>", ">Milliseconds</text>", ">2 workers</text>",
                           ">ddprun</text>", ">torchrun</text>", ">4.29</text>", ">2659</text>"})
    EXPECT_THAT(text, HasSubstr(word));
}

TEST(ChartTest, LongNumbersHaveCommas) {
  const std::string text =
      svg(chart_of({{"a", 84'034}, {"b", 1'234'567}, {"c", 9'876}, {"d", 12.5}}));
  for (const char* word : {">84,034<", ">1,234,567<", ">9876<", ">12.5<", ">1,000,000<"})
    EXPECT_THAT(text, HasSubstr(word));
}

TEST(ChartTest, TellsWhoCannotSeeItTheSame) {
  const std::string text = svg(chart_of({{"ddprun", 4.29}, {"torchrun", std::nullopt}}));
  EXPECT_THAT(text,
              AllOf(HasSubstr("role=\"img\""), HasSubstr("<title id=\"title\">A title</title>"),
                    HasSubstr("Milliseconds. 2 workers: ddprun 4.29, torchrun not measured.")));
}

TEST(ChartTest, IsReadableInTheDark) {
  EXPECT_THAT(svg(chart_of({{"ddprun", 1}})), HasSubstr("@media (prefers-color-scheme: dark)"));
}

TEST(ChartTest, ABarIsAsLongAsItsValue) {
  const auto widths = widths_of(svg(chart_of({{"a", 10}, {"b", 20}, {"c", 5}})));
  ASSERT_EQ(widths.size(), 3U);
  EXPECT_NEAR(widths[1], 2 * widths[0], 0.2);
  EXPECT_NEAR(widths[2], widths[0] / 2, 0.2);
  EXPECT_NEAR(widths[1], 420, 0.1) << "the axis ends at 20";
}

TEST(ChartTest, OnALogarithmicScaleEqualRatiosAreEqualSteps) {
  const auto widths =
      widths_of(svg(chart_of({{"a", 3}, {"b", 30}, {"c", 300}}, Chart::Scale::logarithmic)));
  ASSERT_EQ(widths.size(), 3U);
  EXPECT_NEAR(widths[1] - widths[0], widths[2] - widths[1], 0.2);
  EXPECT_GT(widths[0], 20) << "the smallest can be seen";
}

TEST(ChartTest, WhatWasNotMeasuredHasNoBar) {
  const std::string text = svg(chart_of({{"a", std::nullopt}, {"b", 2}}));
  EXPECT_EQ(widths_of(text).size(), 1U);
  EXPECT_THAT(text, HasSubstr(">not measured</text>"));
}

TEST(ChartTest, AMarkIsOnTheAxis) {
  Chart chart = chart_of({{"a", 0.4}});
  EXPECT_THAT(svg(chart), Not(HasSubstr("class=\"mark\"")));
  chart.mark = 1;
  EXPECT_THAT(svg(chart), HasSubstr("<line class=\"mark\" x1=\"670.0\""));
}

TEST(AxisTest, TicksAreRoundAndReachOverAllValues) {
  EXPECT_THAT(axis_of(chart_of({{"a", 0.92}})).ticks,
              ElementsAre(0, testing::DoubleEq(0.2), 0.4, testing::DoubleEq(0.6), 0.8, 1));
  EXPECT_THAT(axis_of(chart_of({{"a", 95'000}})).ticks,
              ElementsAre(0, 20'000, 40'000, 60'000, 80'000, 100'000));
  EXPECT_THAT(axis_of(chart_of({{"a", 4.3}, {"b", 2659}}, Chart::Scale::logarithmic)).ticks,
              ElementsAre(1, 10, 100, 1'000, 10'000));
}

}  // namespace
}  // namespace ddprun::bench
