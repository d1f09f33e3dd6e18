#include "launcher/report/report.h"

#include <gmock/gmock.h>

#include "launcher/report/fates.h"
#include "launcher/report/printable.h"
#include "tests/unit/report/jobs.h"

namespace ddprun::report {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::size_t rows_of(const std::string& text, std::size_t width) {
  std::size_t rows = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    rows += std::max<std::size_t>(1, (columns(text.substr(at, end - at)) + width - 1) / width);
    at = end + 1;
  }
  return rows;
}

TEST(Report, IsEmptyAfterPlainSuccess) {
  EXPECT_EQ(Job(4).text(), "");
}

TEST(Report, TheFirstFailure) {
  Job job(4);
  job.plan.workers[2].cuda_ordinal = 2;
  job.plan.workers[2].gpu = devices::Gpu{3, "", "", ""};
  job.fail_first(2, died(SIGABRT, true), 1204ms);
  job.end(3, Ending::failed_after, exited(1), 1234ms);
  job.facts.last_stderr[2] = {"terminate called after throwing an instance of 'std::runtime_error'",
                              "  what():  boom"};
  job.facts.log_dir = "run/attempt_0";
  EXPECT_EQ(job.text(),
            "ddprun: rank 2 failed first: SIGABRT (aborted, core dumped) after 1.204 s\n"
            "  host gpu07, local rank 2, GPU 3, pid 4711, attempt 0\n"
            "  its last output:\n"
            "    | terminate called after throwing an instance of 'std::runtime_error'\n"
            "    |   what():  boom\n"
            "  then: ranks 0-1 stopped by ddprun (SIGTERM), rank 3 exited 1 0.03 s later\n"
            "  logs: run/attempt_0/2/\n");
}

TEST(Report, TheOnlyWorkerOnTheCpu) {
  Job job(1);
  job.fail_first(0, exited(3), 83ms);
  EXPECT_EQ(job.text(),
            "ddprun: rank 0 failed first: exit code 3 after 0.083 s\n"
            "  host gpu07, local rank 0, CPU, pid 4709, attempt 0\n"
            "  it wrote nothing\n");
}

TEST(Report, WhoDidNotTakePartIsNamedBeforeWhoGaveUp) {
  Job job(4);
  job.fail_first(0, exited(1), 3s);
  job.facts.absent = {2};
  EXPECT_THAT(job.text(), StartsWith("ddprun: rank 2 did not take part; rank 0, which waited for "
                                     "it, failed first: exit code 1 after 3.000 s\n"));
}

TEST(Report, WhoFellSilentTogetherIsNamed) {
  Job job(4);
  job.fail_first(2, exited(1), 3s);
  job.outcome.cause = Cause::progress_timeout;
  job.outcome.limit = 3s;
  EXPECT_THAT(job.text(), testing::Not(HasSubstr("fell silent")));
  job.outcome.silent_too = {0, 1};
  EXPECT_THAT(job.text(), HasSubstr("  ranks 0-1 fell silent within a second of it; which one "
                                    "hangs, the stacks tell\n"));
}

TEST(Report, GlobalRanksOnALaterNode) {
  Job job(2);
  job.plan.workers[0].rank = 8;
  job.plan.workers[1].rank = 9;
  job.fail_first(1, exited(3), 1s);
  EXPECT_THAT(job.text(), HasSubstr("ddprun: rank 9 failed first"));
  EXPECT_THAT(job.text(), HasSubstr("local rank 1,"));
  EXPECT_THAT(job.text(), HasSubstr("then: rank 8 stopped by ddprun (SIGTERM)\n"));
}

TEST(Report, ASimulatedGpuIsCalledThat) {
  Job job(1);
  job.plan.simulated_gpus = 4;
  job.plan.workers[0].gpu = devices::Gpu{3, "", "", "simulated GPU"};
  job.fail_first(0, exited(3), 1s);
  EXPECT_THAT(job.text(), HasSubstr(", GPU 3 (simulated), "));
}

TEST(Report, EveryFateIsTold) {
  Job job(8);
  job.fail_first(0, died(SIGKILL), 1s);
  job.end(1, Ending::exited_zero, exited(0), 500ms);
  job.end(2, Ending::failed_after, died(SIGSEGV), 1005ms);
  job.end(3, Ending::failed_after, died(SIGSEGV), 1250ms);
  job.outcome.workers[4].last_signal = SIGKILL;
  job.outcome.workers[5].ending = Ending::still_running;
  job.outcome.workers[5].ended.reset();
  job.outcome.workers[6] = {6, 0, {}, std::nullopt, std::nullopt, Ending::not_started, 0};
  job.facts.terminal_width = 200;
  const std::string text = job.text();
  EXPECT_THAT(text,
              HasSubstr("rank 0 failed first: SIGKILL (killed, sender unknown) after 1.000 s"));
  EXPECT_THAT(text, HasSubstr("rank 5 could not be killed (pid 4714)"));
  EXPECT_THAT(text, HasSubstr("rank 4 stopped by ddprun (SIGKILL)"));
  EXPECT_THAT(text, HasSubstr("rank 7 stopped by ddprun (SIGTERM)"));
  EXPECT_THAT(text,
              HasSubstr("ranks 2-3 died by SIGSEGV (segmentation fault) 0.005 to 0.250 s later"));
  EXPECT_THAT(text, HasSubstr("rank 1 had exited 0 0.50 s earlier"));
  EXPECT_THAT(text, HasSubstr("rank 6 not started"));
}

TEST(Report, FiveHundredRanksFitOneScreen) {
  Job job(512);
  job.fail_first(100, exited(1), 5s);
  for (int rank = 0; rank < 512; rank += 3) {
    if (rank != 100)
      job.end(rank, Ending::failed_after, exited(1 + rank % 50),
              5s + std::chrono::milliseconds(rank));
  }
  for (int rank = 1; rank < 512; rank += 7) {
    if (rank != 100) job.end(rank, Ending::exited_zero, exited(0), 4s);
  }
  for (int i = 0; i < 90; ++i)
    job.facts.last_stderr[100].push_back("frame " + std::string(70 + i, 'f'));
  for (int i = 0; i < 30; ++i)
    job.outcome.leftovers.push_back({9000 + i, "sleep " + std::string(100, '9')});
  job.facts.error_files[100] =
      parse_error_file(R"({"message": ")" + std::string(2000, 'm') + R"("})");
  job.facts.log_dir = "/scratch/someone/logs/run_abcdefgh/attempt_0";
  const std::string text = job.text();
  EXPECT_LE(rows_of(text, 80), 24U) << text;
  EXPECT_THAT(text, HasSubstr(std::string(159, 'f'))) << "the last line of stderr";
  EXPECT_THAT(text, HasSubstr(" other ways"));
}

TEST(Report, NothingAWorkerWritesControlsTheTerminal) {
  Job job(1);
  job.fail_first(0, exited(1), 1s);
  job.facts.last_stderr[0] = {"\x1b[2Jcleared?", std::string("nul \0 byte \xff", 12)};
  job.outcome.leftovers = {{5000, "evil\x1b]0;x\a"}};
  const std::string text = job.text();
  EXPECT_THAT(text, HasSubstr("    | cleared?\n    | nul \\x00 byte \\xff\n"));
  EXPECT_THAT(text, HasSubstr("5000 'evil'"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Report, AProgramThatCannotBeStartedIsOneLine) {
  Job job(2);
  job.plan.workers[0].argv = {"./nope"};
  job.outcome.cause = Cause::exec_failed;
  job.outcome.first_failed = 0;
  job.facts.exec_failure = ExecFailure{127, "cannot start './nope': no such file or directory"};
  EXPECT_EQ(job.text(), "ddprun: cannot start './nope': no such file or directory (rank 0)\n");
  job.facts.exec_failure = ExecFailure{126, "cannot start './nope': it is a directory"};
  job.plan.number_of_nodes = 2;
  EXPECT_EQ(job.text(),
            "ddprun: cannot start './nope': it is a directory (rank 0 on host gpu07)\n");
}

TEST(Report, AStopSignalIsOneLine) {
  Job job(4);
  job.outcome.cause = Cause::stop_signal;
  job.outcome.stop_signal = SIGTERM;
  EXPECT_EQ(job.text(), "ddprun: stopped by SIGTERM; ranks 0-3 ended\n");
  job.end(2, Ending::stopped, died(SIGKILL), 30s);
  job.outcome.workers[2].last_signal = SIGKILL;
  EXPECT_EQ(job.text(),
            "ddprun: stopped by SIGTERM; ranks 0-1, 3 ended, rank 2 had to be killed (SIGKILL) "
            "after 30.000 s\n");
}

TEST(Report, ALostGuardianIsOneLine) {
  Job job(2);
  job.outcome.cause = Cause::guardian_lost;
  EXPECT_EQ(job.text(), "ddprun: its outer process was killed; ranks 0-1 ended\n");
}

TEST(Report, LeftoversAreNamedAlsoAfterSuccess) {
  Job job(2);
  job.outcome.leftovers = {{4711, "sleep 41"}, {4712, "tail -f x"}};
  EXPECT_EQ(
      job.text(),
      "ddprun: stopped 2 processes that workers had left: 4711 'sleep 41', 4712 'tail -f x'\n");
  job.outcome.leftovers.resize(1);
  EXPECT_EQ(job.text(), "ddprun: stopped 1 process that workers had left: 4711 'sleep 41'\n");
  job.outcome.leftovers.resize(7, {1, "x"});
  EXPECT_THAT(job.text(), HasSubstr(" and 3 more\n"));
}

TEST(Report, MissingFactsAreNoError) {
  Job job(2);
  job.fail_first(1, exited(1), 1s);
  job.facts.last_stderr.clear();
  job.facts.last_stdout.clear();
  job.facts.error_files.clear();
  EXPECT_THAT(job.text(), HasSubstr("  it wrote nothing\n"));
}

TEST(Duration, HasTheUnitsPeopleRead) {
  EXPECT_EQ(duration(1204ms), "1.204 s");
  EXPECT_EQ(duration(125s), "2 min 5 s");
  EXPECT_EQ(duration(3h + 20min), "3 h 20 min");
}

}  // namespace
}  // namespace ddprun::report
