// ddprun in a worker of ddprun.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "launcher/process/children.h"
#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

std::string inner(const std::string& words) {
  return ddprun_words({}).front() + " " + words;
}

std::map<std::string, std::string> variables(const std::string& text) {
  std::map<std::string, std::string> result;
  for (const std::string& line : lines(text))
    if (const auto equals = line.find('='); equals != std::string::npos)
      result[line.substr(0, equals)] = line.substr(equals + 1);
  return result;
}

TEST(NestedTest, TheInnerJobHasVariablesAndAPortOfItsOwn) {
  const Finished end = ddprun({"-n", "2", "--rdzv-id", "outer", "--role", "outer", "sh", "-c",
                               "[ $RANK = 1 ] || exit 0; echo OUTER_PORT=$MASTER_PORT; exec " +
                                   inner("-q -n 1 --rdzv-id inner env")},
                              {.environment = {"PET_ROLE=not-ours"}});
  ASSERT_EQ(end.code, 0) << end.err;
  auto found = variables(end.out);
  EXPECT_EQ(found["RANK"], "0");
  EXPECT_EQ(found["LOCAL_RANK"], "0");
  EXPECT_EQ(found["WORLD_SIZE"], "1");
  EXPECT_EQ(found["LOCAL_WORLD_SIZE"], "1");
  EXPECT_EQ(found["ROLE_NAME"], "default");
  EXPECT_EQ(found["TORCHELASTIC_RUN_ID"], "inner");
  EXPECT_EQ(found["TORCHELASTIC_RESTART_COUNT"], "0");
  EXPECT_NE(found["MASTER_PORT"], found["OUTER_PORT"]);
  EXPECT_FALSE(found.contains("PET_ROLE"));
}

TEST(NestedTest, WordsReachTheInnerJobsWorkersUnchanged) {
  const Finished end =
      ddprun({"-q", "-n", "2", "bash", "-c",
              inner("-q -n 1 sh -c 'echo $0 \"$@\"' 'a$$b' '${local_rank}' --help")});
  EXPECT_EQ(end.code, 0) << end.err;
  // The outer ddprun replaces ${local_rank} in its own program's arguments.
  EXPECT_THAT(lines(end.out), testing::UnorderedElementsAre("a$$b 0 --help", "a$$b 1 --help"));
}

TEST(NestedTest, TheErrorFileOfAnInnerWorkerReachesTheOuterReport) {
  const Finished end =
      ddprun({"-n", "2", "sh", "-c",
              "[ $RANK = 1 ] || exec sleep 100; exec " +
                  inner("-q -n 1 sh -c 'printf \"{\\\"message\\\":\\\"inner boom\\\"}\" > "
                        "$TORCHELASTIC_ERROR_FILE; exit 3'")});
  EXPECT_EQ(end.code, 3);
  const auto report = end.err.rfind("rank 1 failed first: exit code 3");
  ASSERT_NE(report, std::string::npos) << end.err;
  EXPECT_THAT(end.err.substr(report), HasSubstr("inner boom"));
}

// The outer guardian and launcher, and the inner ones: any of them is killed, or told to stop.
struct Victim {
  const char* name;
  std::vector<int> way;  // which child of which child, from the outer guardian
  int signo;
};

class NestedKillTest : public testing::TestWithParam<Victim> {};

TEST_P(NestedKillTest, LeavesNothingOfTheInnerJob) {
  const std::string mark = "7" + std::to_string(::getpid()) + "." + std::to_string(::rand());
  // The inner worker has a child that ignores everything and one in a session of its own.
  Program program(ddprun_words(
      {"-q", "--shutdown-timeout", "0.5", "sh", "-c",
       "exec " + inner("-q --shutdown-timeout 0.2 sh -c '(setsid sleep " + mark +
                       " &); (trap \"\" TERM INT HUP; sleep " + mark + ") & echo up; wait'")}));
  ASSERT_TRUE(program.wait_for_output("up"));
  pid_t pid = program.pid();
  for (int child : GetParam().way) pid = process::children_of(pid).at(static_cast<size_t>(child));
  ::kill(pid, GetParam().signo);
  EXPECT_TRUE(nobody_has(mark, seconds(5)));
  EXPECT_FALSE(program.finish().timed_out);
}

INSTANTIATE_TEST_SUITE_P(Each, NestedKillTest,
                         testing::Values(Victim{"OuterGuardianTerm", {}, SIGTERM},
                                         Victim{"OuterGuardianKill", {}, SIGKILL},
                                         Victim{"OuterLauncherKill", {0}, SIGKILL},
                                         Victim{"InnerGuardianTerm", {0, 0}, SIGTERM},
                                         Victim{"InnerGuardianKill", {0, 0}, SIGKILL},
                                         Victim{"InnerLauncherKill", {0, 0, 0}, SIGKILL}),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

TEST(NestedTest, AStopOfTheOuterJobStopsTheInnerOneToo) {
  Program program(
      ddprun_words({"-q", "sh", "-c", "exec " + inner("-q sh -c 'echo up $$; exec sleep 1000'")}));
  ASSERT_TRUE(program.wait_for_output("up ") && program.wait_for_output("\n"));
  const pid_t worker = std::stoi(lines(program.out()).at(0).substr(3));
  ::kill(program.pid(), SIGTSTP);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(program.pid()), &info, WSTOPPED | WNOWAIT), 0);
  EXPECT_TRUE(comes_to_state(worker, 'T'));
  ::kill(program.pid(), SIGCONT);
  EXPECT_TRUE(comes_to_state(worker, 'S'));
  // The inner guardian stops with its launcher, and must not do so again.
  pid_t pid = program.pid();
  for (int depth = 0; depth < 4; ++depth) {
    EXPECT_TRUE(comes_to_state(pid, 'S')) << "depth " << depth;
    pid = process::children_of(pid).at(0);
  }
  ::kill(program.pid(), SIGTERM);
  EXPECT_EQ(program.finish().signal, SIGTERM);
}

}  // namespace
}  // namespace ddprun::test
