// The plan for programs, against its schema.
#include "launcher/report/plan_json.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <boost/json/parse.hpp>

#include "rendezvous/base/read_file.h"
#include "tests/integration/support/json_schema.h"
#include "tests/unit/plan/planning.h"

namespace ddprun::report {
namespace {

namespace json = boost::json;

json::value json_of(const plan::LaunchPlan& plan,
                    const plan::Meeting& meeting = {"127.0.0.1", 0, "", 0},
                    const std::string& refusal = "") {
  const std::string text =
      plan_json(plan, meeting, cli::Environment(plan::Words{"HOME=/x"}), refusal);
  json::value value = json::parse(text);
  const json::value schema = json::parse(read_file(DDPRUN_DRY_RUN_SCHEMA).value());
  EXPECT_THAT(test::schema_faults(value, schema), ::testing::IsEmpty());
  return value;
}

TEST(PlanJson, HasEveryRankWithItsDevice) {
  const json::value plan =
      json_of(plan::plan_of({"-n", "2", "train.py", "\xff"}, plan::gpus(8), "3,1"));
  EXPECT_EQ(plan.at("world_size"), 2);
  EXPECT_TRUE(plan.at("refusal").is_null());
  const json::value& rank = plan.at("ranks").at(1);
  EXPECT_EQ(rank.at("device"), "cuda:1");
  EXPECT_EQ(rank.at("gpu").at("id"), 1);
  EXPECT_EQ(rank.at("gpu").at("pci_address"), "0000:11:00.0");
  EXPECT_EQ(rank.at("command").at(3), "\\xff");
  EXPECT_EQ(rank.at("environment").at("RANK"), "1");
  EXPECT_TRUE(rank.at("cpus").is_null());
}

TEST(PlanJson, WhatIsChosenAtTheStartIsNull) {
  const json::value open = json_of(plan::plan_of({"p"}, plan::gpus(0)));
  EXPECT_TRUE(open.at("environment").at("MASTER_PORT").is_null());
  EXPECT_TRUE(open.at("environment").at("TORCHELASTIC_RUN_ID").is_null());
  EXPECT_TRUE(open.at("ranks").at(0).at("environment").at("TORCHELASTIC_ERROR_FILE").is_null());
  EXPECT_TRUE(open.at("ranks").at(0).at("gpu").is_null());
  const json::value given =
      json_of(plan::plan_of({"p"}, plan::gpus(0)), {"127.0.0.1", 4000, "run-7", 0});
  EXPECT_EQ(given.at("environment").at("MASTER_PORT"), "4000");
  EXPECT_EQ(given.at("environment").at("TORCHELASTIC_RUN_ID"), "run-7");
  EXPECT_FALSE(given.at("environment").as_object().contains("HOME")) << "it is inherited";
}

TEST(PlanJson, NamesBindingsAndSimulatedGpus) {
  plan::LaunchPlan plan = plan::plan_of({"--simulate-gpus=2", "p"}, devices::simulate(2));
  plan.workers[1].binding = placement::Binding{.cpus = {0, 1, 2, 8}, .nodes = {0, 1}};
  const json::value value = json_of(plan);
  EXPECT_EQ(value.at("simulated_gpus"), 2);
  EXPECT_EQ(value.at("ranks").at(1).at("cpus"), "0-2,8");
  EXPECT_EQ(value.at("ranks").at(1).at("numa_nodes").at(1), 1);
}

TEST(PlanJson, SaysWhyItWouldBeRefused) {
  EXPECT_EQ(json_of(plan::plan_of({"p"}, plan::gpus(0)), {"127.0.0.1", 1, "", 0}, "port taken")
                .at("refusal"),
            "port taken");
}

TEST(PlanJson, FiveHundredRanksAreALineEach) {
  const std::string text =
      plan_json(plan::plan_of({"-n", "512", "p"}, plan::gpus(0)), {}, cli::Environment(), "");
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 560);
  EXPECT_EQ(json::parse(text).at("ranks").as_array().size(), 512u);
}

}  // namespace
}  // namespace ddprun::report
