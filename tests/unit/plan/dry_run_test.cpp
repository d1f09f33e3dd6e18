// What --dry-run prints.
#include "launcher/plan/dry_run.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/unit/plan/planning.h"

namespace ddprun::plan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string table(const LaunchPlan& plan, const Meeting& meeting = {"127.0.0.1", 0, "", 0}) {
  return dry_run_table(plan, meeting, cli::Environment(Words{"HOME=/home/me"}));
}

TEST(DryRun, ShowsEachRankWithItsDevice) {
  const std::string text =
      table(plan_of({"-n", "2", "train.py", "--lr", "a b", "it's"}, gpus(8), "1,2,3,4"));
  EXPECT_THAT(text,
              HasSubstr("ddprun: 2 workers on gpu07: rank 0 cuda:0 (GPU 1), rank 1 cuda:1 (GPU 2)\n"
                        "  rank  local rank  device  GPU id  GPU\n"
                        "     0           0  cuda:0       1  NVIDIA H200, 0000:11:00.0\n"
                        "     1           1  cuda:1       2  NVIDIA H200, 0000:12:00.0\n"
                        "command:\n"
                        "  python3 -u train.py --lr 'a b' 'it'\\''s'\n"));
  EXPECT_TRUE(text.ends_with("dry run: nothing was started\n"));
}

TEST(DryRun, ShowsHowSeveralNodesMeet) {
  const std::string text = table(plan_of(
      {"--nnodes", "2", "--node-rank", "1", "--master-addr", "node0", "-n", "1", "p"}, gpus(0)));
  EXPECT_THAT(text, HasSubstr("rendezvous: static\n"
                              "  nodes       2  (--nnodes)\n"
                              "  node rank   1  (--node-rank)\n"
                              "  endpoint    node0:29500  (--master-addr, with the default port)\n"
                              "  server      node 0 hosts it, or a daemon\n"
                              "  run id      none  (not given)\n"));
  for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "GROUP_RANK"})
    EXPECT_THAT(text, HasSubstr("  " + std::string(name) + "=(given by the rendezvous)\n"));
  EXPECT_THAT(table(plan_of({"-n", "1", "p"}, gpus(0))), Not(HasSubstr("rendezvous")));
}

TEST(DryRun, ShowsWhatIsAddedToTheEnvironment) {
  const std::string text = table(plan_of({"-n", "2", "p"}, gpus(0)));
  EXPECT_THAT(text, AllOf(HasSubstr("  WORLD_SIZE=2\n"), HasSubstr("  RANK=0\n"),
                          HasSubstr("  DDPRUN_DEVICE=cpu\n"),
                          HasSubstr("     1           1     cpu       -\n")));
  EXPECT_THAT(text, AllOf(HasSubstr("  MASTER_PORT=(chosen at the start)\n"),
                          HasSubstr("  TORCHELASTIC_RUN_ID=(made at the start)\n"),
                          Not(HasSubstr("HOME="))));
  EXPECT_THAT(table(plan_of({"p"}, gpus(0)), {"127.0.0.1", 4000, "run-7", 0}),
              AllOf(HasSubstr("  MASTER_PORT=4000\n"), HasSubstr("  TORCHELASTIC_RUN_ID=run-7\n")));
}

TEST(DryRun, LeavesOutTheMiddleOfALongTable) {
  const std::string text = table(plan_of({"-n", "512", "p"}, gpus(0)));
  EXPECT_THAT(text,
              AllOf(HasSubstr("\n    31          31 "), Not(HasSubstr("\n    32          32 ")),
                    HasSubstr("\n  ... 476 more ranks\n"), Not(HasSubstr("\n   507         507 ")),
                    HasSubstr("\n   508         508 "), HasSubstr("\n   511         511 ")));
  EXPECT_LT(std::ranges::count(text, '\n'), 80);
}

TEST(DryRun, SaysWhoseCommandItIsWhereTheyDiffer) {
  EXPECT_THAT(table(plan_of({"-n", "2", "p", "${local_rank}"}, gpus(0))),
              HasSubstr("command (of rank 0):\n  p 0\n"));
}

TEST(DryRun, ShowsTheCpusOfBoundWorkers) {
  LaunchPlan plan = plan_of({"-n", "2", "p"}, gpus(8), "5,0");
  plan.workers[0].binding = placement::Binding{.cpus = {0, 1, 2, 8}, .nodes = {0}};
  plan.workers[1].binding = placement::Binding{};
  plan.binding_report = {"rank 0: CPUs 0-2,8"};
  EXPECT_THAT(
      table(plan),
      HasSubstr(
          "  rank  local rank  device       CPUs  NUMA node  GPU id  GPU\n"
          "     0           0  cuda:0      0-2,8          0       5  NVIDIA H200, 0000:15:00.0\n"
          "     1           1  cuda:1  not bound          -       0  NVIDIA H200, 0000:10:00.0\n"
          "rank 0: CPUs 0-2,8\n"));
}

TEST(DryRun, ShowsEachWrapperOnce) {
  cli::JobSpec job = job_of({"-n", "5", "p", "x"});
  job.wraps = {{{{{1, 2}}}, {"gdb", "%r"}}, {{{{3, 3}}}, {"perf stat"}}};
  const auto plan = make(job, gpus(0), {}, a_node());
  ASSERT_TRUE(plan);
  EXPECT_THAT(table(*plan), HasSubstr("command (of rank 0):\n  p x\n"
                                      "command of rank 1:\n  gdb 1 p x\n"
                                      "command of rank 3:\n  'perf stat' p x\n"
                                      "environment"));
}

TEST(DryRun, EndsWithTheNotices) {
  EXPECT_THAT(table(plan_of({"--standalone", "--master-port=x", "p"}, gpus(0))),
              HasSubstr("note: --master-port: meaningless with --standalone, ignored\n"));
}

}  // namespace
}  // namespace ddprun::plan
