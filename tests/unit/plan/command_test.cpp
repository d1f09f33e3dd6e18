// The words a worker is executed with.
#include "launcher/plan/command.h"

#include <gmock/gmock.h>

#include "tests/unit/plan/planning.h"

namespace ddprun::plan {
namespace {

using ::testing::ElementsAre;

Words command(const Words& words, int local_rank = 0) {
  return worker_command(job_of(words), "python3", local_rank);
}

TEST(Command, ProgramsAreExecutedAsTheyAre) {
  EXPECT_THAT(command({"./train", "--help", "-9", "", "--", "a$$b"}),
              ElementsAre("./train", "--help", "-9", "", "--", "a$$b"));
  EXPECT_THAT(command({"train", "--", "x"}), ElementsAre("train", "--", "x"));
}

TEST(Command, ScriptsRunInPython) {
  EXPECT_THAT(command({"train.py", "--lr", "1"}),
              ElementsAre("python3", "-u", "train.py", "--lr", "1"));
  EXPECT_THAT(command({"-m", "pkg.train", "x"}),
              ElementsAre("python3", "-u", "-m", "pkg.train", "x"));
  EXPECT_THAT(command({"--run-path", "train"}), ElementsAre("python3", "-u", "train"));
  EXPECT_THAT(command({"--no-python", "train.py"}), ElementsAre("train.py"));
  EXPECT_THAT(command({"train.pyc"}), ElementsAre("train.pyc"));
  EXPECT_THAT(worker_command(job_of({"a.py"}), "/opt/python", 0),
              ElementsAre("/opt/python", "-u", "a.py"));
}

TEST(Command, OneSeparatorBehindAScriptIsDropped) {
  EXPECT_THAT(command({"-m", "pkg", "--", "--depth=20"}),
              ElementsAre("python3", "-u", "-m", "pkg", "--depth=20"));
  EXPECT_THAT(command({"a.py", "--", "--", "x"}), ElementsAre("python3", "-u", "a.py", "--", "x"));
  EXPECT_THAT(command({"a.py", "x", "--", "y"}),
              ElementsAre("python3", "-u", "a.py", "x", "--", "y"));
  EXPECT_THAT(command({"--", "a.py", "--", "x"}), ElementsAre("python3", "-u", "a.py", "--", "x"));
  EXPECT_THAT(command({"--no-python", "a.py", "--", "x"}), ElementsAre("a.py", "--", "x"));
}

TEST(Command, OnlyTheLocalRankIsReplaced) {
  EXPECT_THAT(command({"p", "${local_rank}", "a${local_rank}b${local_rank}", "${rank}",
                       "$local_rank", "$${local_rank}", "${local_rank"},
                      12),
              ElementsAre("p", "12", "a12b12", "${rank}", "$local_rank", "$12", "${local_rank"));
  EXPECT_THAT(command({"${local_rank}"}, 1), ElementsAre("${local_rank}"));
}

TEST(Command, TheLocalRankCanBeAnArgument) {
  EXPECT_THAT(command({"--pass-local-rank", "a.py", "x"}, 3),
              ElementsAre("python3", "-u", "a.py", "--local-rank=3", "x"));
  EXPECT_THAT(command({"--pass-local-rank=local_rank", "-m", "pkg", "--", "x"}, 3),
              ElementsAre("python3", "-u", "-m", "pkg", "--local_rank=3", "x"));
  EXPECT_THAT(command({"--pass-local-rank", "./p", "--", "x"}, 0),
              ElementsAre("./p", "--local-rank=0", "--", "x"));
}

cli::JobSpec wrapped(const Words& words) {
  cli::JobSpec job = job_of(words);
  job.wraps = {{{{{2, 3}}}, {"gdb", "--args"}}, {{{cli::kEveryRank}}, {"perf", "-o", "perf.%r"}}};
  return job;
}

TEST(Wrapper, TheFirstThatHasTheRankCounts) {
  EXPECT_THAT(wrapper_of(wrapped({"p"}), 3), ElementsAre("gdb", "--args"));
  EXPECT_THAT(wrapper_of(wrapped({"p"}), 4), ElementsAre("perf", "-o", "perf.%r"));
  EXPECT_THAT(wrapper_of(job_of({"p"}), 0), ::testing::IsEmpty());
}

TEST(Wrapper, ItsFieldsAreFilledInAndTheProgramIsLeftAlone) {
  WorkerPlan worker;
  worker.rank = 12;
  worker.local_rank = 4;
  worker.wrapper = {"%r-%l", "%h", "%a%a", "%%r", "%d", "%"};
  worker.argv = {"p", "%r"};
  EXPECT_THAT(command_line(worker, "gpu07", 3),
              ElementsAre("12-4", "gpu07", "33", "%r", "%d", "%", "p", "%r"));
}

TEST(Wrapper, StandsBeforePython) {
  const auto plan = make(wrapped({"-n", "3", "a.py", "x"}), gpus(0), {}, a_node());
  ASSERT_TRUE(plan);
  EXPECT_THAT(command_line(plan->workers.at(2), "h", 0),
              ElementsAre("gdb", "--args", "python3", "-u", "a.py", "x"));
  EXPECT_THAT(command_line(plan->workers.at(1), "h", 0),
              ElementsAre("perf", "-o", "perf.1", "python3", "-u", "a.py", "x"));
}

}  // namespace
}  // namespace ddprun::plan
