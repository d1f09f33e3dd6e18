#include "tests/integration/launcher/soak/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

namespace ddprun::soak {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Scenario rank_2_exits_33() {
  Scenario scenario{.roles = {"wait", "wait", "exit:33:5"}};
  scenario.failure = Failure{.rank = 2, .code = 33};
  return scenario;
}

End end_with(int code, const std::string& err) {
  return {.code = code, .err = "ddprun: " + err};
}

TEST(ScenarioTest, OneSeedIsOneRun) {
  for (std::uint64_t seed = 1; seed < 50; ++seed)
    EXPECT_EQ(describe(scenario_of(seed)), describe(scenario_of(seed)));
  EXPECT_NE(describe(scenario_of(1)).substr(7), describe(scenario_of(2)).substr(7));
}

TEST(ScenarioTest, EveryRunComesToAnEnd) {
  for (std::uint64_t seed = 1; seed < 500; ++seed) {
    const Scenario scenario = scenario_of(seed);
    EXPECT_TRUE(scenario.failure || (scenario.disturbance != Disturbance::none &&
                                     scenario.disturbance != Disturbance::suspend))
        << describe(scenario);
  }
}

TEST(ScenarioTest, EverythingHappensSometimes) {
  std::string all;
  for (std::uint64_t seed = 1; seed < 500; ++seed) all += describe(scenario_of(seed)) + " \n";
  for (const char* word :
       {" wait ", " rude ", " family ", " daemon ", " ignore ", " stop ",
        " end:", " orphan:", " exit:", " signal:", " abort:", "SIGTERM", "SIGINT", "SIGHUP",
        "SIGQUIT", "suspended", "launcher killed", "guardian killed", "restarted"})
    EXPECT_THAT(all, HasSubstr(word));
}

TEST(ScenarioTest, TheRightRankAndCodeAreWanted) {
  const Scenario scenario = rank_2_exits_33();
  const std::string told = "rank 2 failed first: exit code 33 after 0.1 s";
  EXPECT_THAT(wrong_with(scenario, end_with(33, told)), IsEmpty());
  EXPECT_THAT(wrong_with(scenario, end_with(34, told)), HasSubstr("ended with 34 instead of 33"));
  EXPECT_THAT(wrong_with(scenario, end_with(33, "rank 1 failed first: exit code 33 after 0.1 s")),
              HasSubstr("does not say 'rank 2"));
  EXPECT_THAT(wrong_with(scenario, end_with(33, told + "; rank 0 exited 5 later")),
              HasSubstr("told to stop"));
  EXPECT_THAT(wrong_with(scenario, {.signal = SIGTERM}), HasSubstr("ended by SIGTERM"));
}

TEST(ScenarioTest, ASignalIsNamed) {
  Scenario scenario{.roles = {"abort:5"}};
  scenario.failure = Failure{.rank = 0, .signal = SIGABRT};
  EXPECT_THAT(wrong_with(scenario, end_with(134, "rank 0 failed first: SIGABRT (aborted)")),
              IsEmpty());
  EXPECT_THAT(wrong_with(scenario, end_with(134, "rank 0 failed first: SIGSEGV (oh)")),
              HasSubstr("does not say"));
}

TEST(ScenarioTest, AfterARestartTheLastAttemptCounts) {
  Scenario scenario = rank_2_exits_33();
  scenario.restarts = 1;
  EXPECT_THAT(wrong_with(scenario, end_with(34, "rank 2 failed first: exit code 34 after 1 s")),
              IsEmpty());
  EXPECT_THAT(wrong_with(scenario, end_with(33, "rank 2 failed first: exit code 33 after 1 s")),
              HasSubstr("instead of 34"));
}

TEST(ScenarioTest, ADisturbanceMayComeFirst) {
  Scenario scenario = rank_2_exits_33();
  scenario.disturbance = Disturbance::stop_signal;
  scenario.signo = SIGINT;
  EXPECT_THAT(wrong_with(scenario, {.signal = SIGINT}), IsEmpty());
  EXPECT_THAT(wrong_with(scenario, {.signal = SIGKILL}), HasSubstr("ended by SIGKILL"));
  scenario.disturbance = Disturbance::kill_launcher;
  EXPECT_THAT(wrong_with(scenario, {.signal = SIGKILL}), IsEmpty());
  scenario.failure.reset();
  EXPECT_THAT(wrong_with(scenario, end_with(0, "")), HasSubstr("ended with 0"));
}

}  // namespace
}  // namespace ddprun::soak
