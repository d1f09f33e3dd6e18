#include "tests/bench/report/charts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ddprun::bench {
namespace {

using testing::ElementsAre;
using testing::FieldsAre;
using testing::IsEmpty;
using testing::Optional;

bench::Result row(const std::string& group, const std::string& name, double median) {
  return {.group = group, .row = {name, "ms"}, .values = {median}, .median = median};
}

const Chart& only(const std::vector<NamedChart>& charts, const std::string& name) {
  EXPECT_EQ(charts.size(), 1U);
  EXPECT_EQ(charts.at(0).name, name);
  return charts.at(0).chart;
}

TEST(ChartsTest, WithoutRowsThereIsNoChart) {
  EXPECT_THAT(charts_of({}), IsEmpty());
  EXPECT_THAT(charts_of({{{}, {row("launch", "another row", 1)}}}), IsEmpty());
  EXPECT_THAT(charts_of({{{}, {row("fail", "ddprun -n 2 /bin/true", 1)}}}), IsEmpty());
}

TEST(ChartsTest, ALaunchIsDrawnByWorkersAndLauncher) {
  bench::Result missing = row("launch", "srun -n 2 /bin/true", 0);
  missing.values.clear();
  const auto charts =
      charts_of({{{},
                  {row("launch", "ddprun -n 2 /bin/true", 4),
                   row("launch", "torchrun 2.11.0 --nproc-per-node 2 /bin/true", 9),
                   row("launch", "torchrun 2.15.0 --nproc-per-node 2 /bin/true", 8), missing}},
                 {{}, {row("launch", "spawn_floor 512 /bin/true", 7)}}});
  const Chart& chart = only(charts, "bench-launch");
  ASSERT_EQ(chart.groups.size(), 2U);
  EXPECT_THAT(chart.groups[0].bars,
              ElementsAre(FieldsAre("ddprun", Optional(4.0), Role::own),
                          FieldsAre("Slurm (srun)", std::nullopt, Role::peer),
                          FieldsAre("torchrun 2.11.0", Optional(9.0), Role::peer),
                          FieldsAre("torchrun 2.15.0", Optional(8.0), Role::peer)));
  EXPECT_EQ(chart.groups[1].title, "512 times /bin/true");
}

TEST(ChartsTest, AStoreIsDrawnByOperationsInASecond) {
  const auto charts = charts_of({{{}, {row("store", "64 clients, ADD: rdzvd", 12.5)}}});
  const Chart& chart = only(charts, "bench-store-add");
  EXPECT_THAT(chart.groups.at(0).bars,
              ElementsAre(FieldsAre("rdzvd", Optional(80'000.0), Role::own)));
}

TEST(ChartsTest, AStepIsDrawnAsARatio) {
  bench::Result step = row("train", "LeNet, step: ddp", 9);
  step.ratio = 0.7;
  const auto charts = charts_of({{{}, {step}}});
  const Chart& chart = only(charts, "bench-train");
  EXPECT_THAT(chart.groups.at(0).bars,
              ElementsAre(FieldsAre("ddprun::ddp", Optional(0.7), Role::own)));
  EXPECT_EQ(chart.mark, 1.0);
}

}  // namespace
}  // namespace ddprun::bench
