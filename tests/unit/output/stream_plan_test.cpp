#include "launcher/output/stream_plan.h"

#include <gtest/gtest.h>

namespace ddprun::output {
namespace {

using Descriptor = StreamPlan::Descriptor;

constexpr cli::Streams kBoth{.out = true, .err = true};
constexpr cli::Streams kOut{.out = true, .err = false};

cli::StreamMap every(cli::Streams streams) {
  return {.others = streams, .ranges = {}};
}

TEST(StreamPlan, WithoutWishesEverythingIsReadAndShown) {
  const StreamPlan plan = plan_stream({}, Stream::out, 3);
  EXPECT_EQ(plan.descriptor, Descriptor::channel);
  EXPECT_TRUE(plan.console);
  EXPECT_FALSE(plan.file);
  EXPECT_FALSE(keeps_files({}));
}

TEST(StreamPlan, ARedirectedStreamIsTheFileItself) {
  const Routing routing{.redirects = {.others = {}, .ranges = {{{2, 2}, kOut}}}};
  const StreamPlan plan = plan_stream(routing, Stream::out, 2);
  EXPECT_EQ(plan.descriptor, Descriptor::file);
  EXPECT_TRUE(plan.file);
  EXPECT_FALSE(plan.console);
  EXPECT_TRUE(plan_stream(routing, Stream::err, 2).console);
  EXPECT_TRUE(plan_stream(routing, Stream::out, 1).console);
  EXPECT_TRUE(keeps_files(routing));
}

TEST(StreamPlan, TeeBeatsRedirect) {
  const StreamPlan plan =
      plan_stream({.redirects = every(kBoth), .tee = every(kOut)}, Stream::out, 0);
  EXPECT_EQ(plan.descriptor, Descriptor::channel);
  EXPECT_TRUE(plan.file);
  EXPECT_TRUE(plan.console);
}

TEST(StreamPlan, ARankThatIsNotShownIsReadForTheReport) {
  const Routing routing{.console_ranks = cli::RankSet{{{0, 0}}}};
  EXPECT_TRUE(plan_stream(routing, Stream::err, 0).console);
  const StreamPlan hidden = plan_stream(routing, Stream::err, 1);
  EXPECT_EQ(hidden.descriptor, Descriptor::channel);
  EXPECT_FALSE(hidden.console);
}

TEST(StreamPlan, ATeeOfARankThatIsNotShownNeedsNoCopy) {
  const StreamPlan plan =
      plan_stream({.tee = every(kBoth), .console_ranks = cli::RankSet{{{0, 0}}}}, Stream::out, 1);
  EXPECT_EQ(plan.descriptor, Descriptor::file);
  EXPECT_FALSE(plan.console);
}

TEST(StreamPlan, FiltersSeeTeedStreamsAlsoOfRanksThatAreNotShown) {
  const Routing routing{.tee = {.others = {}, .ranges = {{{0, 1}, kBoth}}},
                        .console_ranks = cli::RankSet{{{0, 0}}},
                        .filter_out = true};
  EXPECT_TRUE(plan_stream(routing, Stream::out, 0).filter);
  const StreamPlan hidden = plan_stream(routing, Stream::out, 1);
  EXPECT_TRUE(hidden.filter);
  EXPECT_EQ(hidden.descriptor, Descriptor::channel);
  EXPECT_FALSE(plan_stream(routing, Stream::err, 0).filter);
  EXPECT_FALSE(plan_stream(routing, Stream::out, 2).filter);
}

TEST(StreamPlan, FiltersWithoutAnyTeeSeeWhatIsNotRedirected) {
  const Routing routing{.redirects = {.others = {}, .ranges = {{{1, 1}, kOut}}},
                        .filter_out = true};
  EXPECT_TRUE(plan_stream(routing, Stream::out, 0).filter);
  EXPECT_FALSE(plan_stream(routing, Stream::out, 1).filter);
  EXPECT_TRUE(keeps_files({.filter_out = true}));
}

TEST(StreamPlan, WithoutFilesARedirectIsReadForTheReportOnly) {
  const Routing routing{.redirects = every(kBoth), .files = false, .filter_out = true};
  const StreamPlan plan = plan_stream(routing, Stream::out, 0);
  EXPECT_EQ(plan.descriptor, Descriptor::channel);
  EXPECT_FALSE(plan.file || plan.console || plan.filter);
  EXPECT_FALSE(keeps_files(routing));
}

TEST(StreamPlan, InheritHandsOnOurDescriptorButRedirectsStill) {
  const Routing routing{.redirects = {.others = {}, .ranges = {{{1, 1}, kOut}}},
                        .console_ranks = cli::RankSet{{{0, 1}}},
                        .mode = cli::OutputMode::inherit};
  EXPECT_EQ(plan_stream(routing, Stream::out, 0).descriptor, Descriptor::inherited);
  EXPECT_EQ(plan_stream(routing, Stream::out, 1).descriptor, Descriptor::file);
  EXPECT_EQ(plan_stream(routing, Stream::out, 2).descriptor, Descriptor::null);
}

}  // namespace
}  // namespace ddprun::output
