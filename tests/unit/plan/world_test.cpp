#include "launcher/plan/world.h"

#include <gtest/gtest.h>

#include "tests/unit/plan/planning.h"

namespace ddprun::plan {
namespace {

const Words kTwoNodes{"--nnodes", "2", "--node-rank", "1", "--master-addr", "n0", "-n", "2"};

Words with(Words words) {
  words.insert(words.begin(), kTwoNodes.begin(), kTwoNodes.end());
  return words;
}

TEST(WorldTest, RanksOfOtherNodesAreNoMistake) {
  const Words words = with({"--stdin", "3", "--wrap", "3:perf", "./a"});
  EXPECT_EQ(plan_of(words, gpus(0)).workers.size(), 2U);
  EXPECT_EQ(wrong_rank(job_of(words), 4), "");
}

TEST(WorldTest, RanksThatTheWorldDoesNotHaveAre) {
  EXPECT_EQ(wrong_rank(job_of(with({"--stdin", "4", "./a"})), 4),
            "--stdin 4: there is no such rank, with 4 workers the last one is 3");
  EXPECT_EQ(wrong_rank(job_of(with({"--wrap", "4-7:perf", "./a"})), 4),
            "--wrap: 'perf' is for none of the ranks; the last one is 3");
}

TEST(WorldTest, ThePlaceGivesRanksAndTheirWrappers) {
  const Words words = with({"--wrap", "3:perf", "./a"});
  LaunchPlan plan = plan_of(words, gpus(0));
  take_place(job_of(words),
             {.node_rank = 1, .first_rank = 2, .number_of_nodes = 2, .world_size = 4}, plan);
  EXPECT_EQ(plan.workers[0].rank, 2);
  EXPECT_EQ(plan.workers[1].rank, 3);
  EXPECT_TRUE(plan.workers[0].wrapper.empty());
  EXPECT_EQ(plan.workers[1].wrapper.front(), "perf");
}

}  // namespace
}  // namespace ddprun::plan
