// Where the workers' programs are, looked up before the first of them starts.
#include "launcher/agent/programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ddprun::agent {
namespace {

using testing::HasSubstr;

const cli::Environment kEnvironment{std::vector<std::string>{"PATH=/usr/bin:/bin"}};

plan::LaunchPlan plan_of(const std::vector<std::vector<std::string>>& wrappers,
                         const std::string& program) {
  plan::LaunchPlan plan;
  for (const auto& wrapper : wrappers) {
    plan::WorkerPlan worker;
    worker.rank = worker.local_rank = static_cast<int>(plan.workers.size());
    worker.wrapper = wrapper;
    worker.argv = {program};
    plan.workers.push_back(worker);
  }
  return plan;
}

std::string refusal(const plan::LaunchPlan& plan) {
  auto programs = Programs::in({}, kEnvironment);
  const auto why = programs->cannot_start(plan);
  return why ? std::to_string(why->code) + " " + why->text : "";
}

TEST(ProgramsTest, AProgramIsFoundOrNamed) {
  EXPECT_EQ(refusal(plan_of({{}, {}}, "sh")), "");
  EXPECT_EQ(refusal(plan_of({{}, {}}, "no-such-program")),
            "127 cannot start 'no-such-program': not found in PATH");
}

TEST(ProgramsTest, EachWrapperIsLookedForAndTheProgramBehindItIsNot) {
  EXPECT_EQ(refusal(plan_of({{"sh", "-c"}, {"env"}}, "no-such-program")), "");
  EXPECT_EQ(refusal(plan_of({{}, {"no-such-debugger", "x"}, {}}, "sh")),
            "127 cannot start 'no-such-debugger' (from --wrap): not found in PATH");
  EXPECT_EQ(refusal(plan_of({{"s%%h"}, {"no-%r"}}, "sh")).substr(0, 25),
            "127 cannot start 's%h' (f");
  EXPECT_THAT(refusal(plan_of({{"env"}, {"no-%r"}}, "sh")), HasSubstr("'no-1'"));
  EXPECT_THAT(refusal(plan_of({{"env"}, {}}, "no-such-program")), HasSubstr("no-such-program"));
}

TEST(ProgramsTest, RelativePathsAreSeenFromTheDirectory) {
  auto programs = Programs::in("/usr/bin", kEnvironment);
  ASSERT_TRUE(programs);
  EXPECT_GE(programs->directory(), 0);
  EXPECT_EQ(programs->find("./env").error, 0);
  EXPECT_FALSE(programs->cannot_read("env"));
  const auto why = programs->cannot_read("no-such.py");
  ASSERT_TRUE(why);
  EXPECT_EQ(why->code, 127);
  EXPECT_EQ(why->text, "cannot start 'no-such.py': No such file or directory");
  EXPECT_EQ(Programs::in({}, kEnvironment)->directory(), -1);
}

TEST(ProgramsTest, ADirectoryThatIsNoneIsRefused) {
  EXPECT_EQ(Programs::in("/nowhere", kEnvironment).error().text,
            "--chdir '/nowhere': No such file or directory");
  EXPECT_EQ(Programs::in("/dev/null", kEnvironment).error().text,
            "--chdir '/dev/null': Not a directory");
}

}  // namespace
}  // namespace ddprun::agent
