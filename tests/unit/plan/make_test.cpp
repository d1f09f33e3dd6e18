// How many workers there are, which device each one gets, and what is refused.
#include <gmock/gmock.h>

#include "tests/unit/plan/planning.h"

namespace ddprun::plan {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST(Scenario, TwoWorkersOnAListOfFour) {
  const LaunchPlan plan = plan_of({"-n", "2", "p"}, gpus(8), "1,2,3,4");
  EXPECT_THAT(gpu_ids(plan), ElementsAre(1, 2));
  EXPECT_THAT(ordinals(plan), ElementsAre(0, 1));
  EXPECT_EQ(plan.start_line,
            "ddprun: 2 workers on gpu07: rank 0 cuda:0 (GPU 1), rank 1 cuda:1 (GPU 2)");
}

TEST(Scenario, FourWorkersOnAListOfFour) {
  EXPECT_THAT(gpu_ids(plan_of({"-n", "4", "p"}, gpus(8), "1,2,3,4")), ElementsAre(1, 2, 3, 4));
}

TEST(Scenario, FourWorkersWithoutAList) {
  const LaunchPlan plan = plan_of({"-n", "4", "p"}, gpus(8));
  EXPECT_THAT(gpu_ids(plan), ElementsAre(0, 1, 2, 3));
  for (const WorkerPlan& worker : plan.workers) {
    EXPECT_EQ(worker.gpu->index, worker.local_rank);
    EXPECT_EQ(worker.rank, worker.local_rank);
  }
  EXPECT_EQ(plan.world_size, 4);
}

TEST(Scenario, FiveWorkersOnAListOfFourAreRefused) {
  EXPECT_EQ(
      refusal_of({"-n", "5", "p"}, gpus(8), "1,2,3,4"),
      "5 workers asked for, but only 4 GPUs visible on gpu07: 1-4\n"
      "  why: CUDA_VISIBLE_DEVICES='1,2,3,4', the node has 8 GPUs\n"
      "  ways out: -n 4, a longer list in CUDA_VISIBLE_DEVICES, --oversubscribe (workers share "
      "GPUs), or --device cpu");
}

TEST(Scenario, AreTheSameWithSimulatedGpus) {
  const devices::NodeGpus eight = devices::simulate(8);
  const Words two{"--simulate-gpus", "8", "-n", "2", "p"};
  const LaunchPlan plan = plan_of(two, eight, "1,2,3,4");
  EXPECT_THAT(gpu_ids(plan), ElementsAre(1, 2));
  EXPECT_EQ(plan.simulated_gpus, 8);
  EXPECT_EQ(
      plan.start_line,
      "ddprun: 2 workers on gpu07 (simulated GPUs): rank 0 cuda:0 (GPU 1), rank 1 cuda:1 (GPU 2)");
  EXPECT_THAT(refusal_of({"--simulate-gpus", "8", "-n", "5", "p"}, eight, "1,2,3,4"),
              HasSubstr("the node has 8 simulated GPUs"));
  EXPECT_EQ(plan_of(two, devices::simulate(0)).simulated_gpus, std::nullopt);
}

TEST(Make, RefusesMoreWorkersThanTheNodeHasGpus) {
  EXPECT_THAT(refusal_of({"-n", "4", "p"}, gpus(2)),
              AllOf(HasSubstr("4 workers asked for, but only 2 GPUs visible on gpu07: 0, 1\n"),
                    HasSubstr("CUDA_VISIBLE_DEVICES is not set"), Not(HasSubstr("longer list"))));
  EXPECT_THAT(refusal_of({"-n", "2", "p"}, gpus(8), "1,,2"),
              AllOf(HasSubstr("only 1 GPU visible on gpu07: 1\n"),
                    HasSubstr("entry 2, '', which is empty")));
}

TEST(Make, OversubscribedWorkersTakeTurns) {
  const LaunchPlan plan = plan_of({"-n", "6", "--oversubscribe", "p"}, gpus(8), "1,2,3,4");
  EXPECT_THAT(ordinals(plan), ElementsAre(0, 1, 2, 3, 0, 1));
  EXPECT_THAT(gpu_ids(plan), ElementsAre(1, 2, 3, 4, 1, 2));
  EXPECT_EQ(plan.start_line, "ddprun: 6 workers on gpu07: ranks 0-5 cuda:0-3 in turn (GPUs 1-4)");
}

TEST(Make, ListsThatShowNothingByASlipAreRefused) {
  for (const char* list : {"99", "abc", "0,0", "-2"}) {
    for (const Words& words : {Words{"-n", "2", "p"}, Words{"p"}, Words{"-n", "auto", "p"},
                               Words{"-n", "gpu", "p"}, Words{"--device", "cuda", "p"}}) {
      EXPECT_THAT(refusal_of(words, gpus(8), list),
                  AllOf(HasSubstr("no GPU is visible on gpu07\n  why: CUDA_VISIBLE_DEVICES='" +
                                  std::string(list) + "', the node has 8 GPUs\n"),
                        HasSubstr("--device cpu")))
          << list << " " << words[0];
    }
    EXPECT_THAT(gpu_ids(plan_of({"--device", "cpu", "-n", "2", "p"}, {}, list)),
                ElementsAre(-1, -1));
    EXPECT_THAT(gpu_ids(plan_of({"-n", "2", "p"}, gpus(0), list)), ElementsAre(-1, -1));
  }
}

TEST(Make, AnEmptyListIsTheCpu) {
  for (const char* list : {"", "NoDevFiles"}) {
    const LaunchPlan plan = plan_of({"-n", "2", "p"}, gpus(8), list);
    EXPECT_THAT(gpu_ids(plan), ElementsAre(-1, -1));
    EXPECT_EQ(plan.start_line, "ddprun: 2 workers on gpu07: CPU");
  }
  EXPECT_EQ(
      refusal_of({"--device", "cuda", "p"}, gpus(8), ""),
      "--device cuda was asked for, but CUDA_VISIBLE_DEVICES='' hides every GPU of gpu07, the node "
      "has 8 GPUs");
}

TEST(Make, WithoutGpusTheCpuIsTaken) {
  EXPECT_THAT(gpu_ids(plan_of({"-n", "3", "p"}, gpus(0), "0,1")), ElementsAre(-1, -1, -1));
  EXPECT_EQ(refusal_of({"--device", "cuda", "p"}, gpus(0)),
            "--device cuda was asked for, but no GPU was found on gpu07 (no NVIDIA driver)");
  EXPECT_THAT(refusal_of({"-n", "gpu", "p"}, gpus(0)),
              HasSubstr("--nproc-per-node gpu was asked for, but"));
  EXPECT_THAT(refusal_of({"-n", "gpu", "--device", "cpu", "p"}, {}),
              HasSubstr("contradict each other"));
}

TEST(Make, CountsWorkersAsAsked) {
  EXPECT_THAT(plan_of({"p"}, gpus(3)).workers, SizeIs(3));
  EXPECT_THAT(plan_of({"p"}, gpus(8), "5,6").workers, SizeIs(2));
  EXPECT_THAT(plan_of({"p"}, gpus(0)).workers, SizeIs(1));
  EXPECT_THAT(plan_of({"--device", "cpu", "p"}, {}).workers, SizeIs(1));
  EXPECT_THAT(plan_of({"-n", "auto", "p"}, gpus(3)).workers, SizeIs(3));
  EXPECT_THAT(plan_of({"-n", "auto", "p"}, gpus(0)).workers, SizeIs(16));
  EXPECT_THAT(plan_of({"-n", "gpu", "p"}, gpus(8), "5,6").workers, SizeIs(2));
  EXPECT_THAT(plan_of({"-n", "cpu", "p"}, gpus(0)).workers, SizeIs(16));
  // One worker for each CPU wants CPUs, even where there are GPUs; with --device cuda they must
  // fit.
  EXPECT_THAT(gpu_ids(plan_of({"-n", "cpu", "p"}, gpus(8))), ::testing::Each(-1));
  EXPECT_THAT(refusal_of({"-n", "cpu", "--device", "cuda", "p"}, gpus(8)),
              HasSubstr("16 workers asked for"));
}

TEST(Make, SaysWhereTheNumberComesFrom) {
  EXPECT_EQ(
      plan_of({"p"}, gpus(2)).start_line,
      "ddprun: 2 workers on gpu07, one for each visible GPU: rank 0 cuda:0 (GPU 0), rank 1 cuda:1 "
      "(GPU 1)");
  EXPECT_EQ(plan_of({"p"}, gpus(0)).start_line,
            "ddprun: 1 worker on gpu07 (-n sets the number): CPU");
  EXPECT_EQ(plan_of({"-n", "cpu", "p"}, gpus(0)).start_line,
            "ddprun: 16 workers on gpu07, one for each CPU: CPU");
}

TEST(Make, ManyRanksAreARange) {
  EXPECT_EQ(plan_of({"-n", "8", "p"}, gpus(8)).start_line,
            "ddprun: 8 workers on gpu07: ranks 0-7 cuda:0-7 (GPUs 0-7)");
  EXPECT_EQ(plan_of({"-n", "5", "p"}, gpus(8), "7,0,1,2,5").start_line,
            "ddprun: 5 workers on gpu07: ranks 0-4 cuda:0-4 (GPUs 7, 0-2, 5)");
}

TEST(Make, PartsOfAGpuAreNamed) {
  devices::NodeGpus node = gpus(1);
  node.mig_devices.push_back({0, "MIG-b000", "0000:10:00.0", "MIG 1g.18gb"});
  EXPECT_THAT(plan_of({"-n", "1", "p"}, node, "MIG-b000").start_line,
              HasSubstr("rank 0 cuda:0 (GPU 0, MIG-b000)"));
}

TEST(Make, GivesThreadsTheirShare) {
  Node node = a_node();
  node.omp_num_threads_set = false;
  const LaunchPlan shared = plan_of({"-n", "3", "p"}, gpus(0), std::nullopt, node);
  EXPECT_EQ(shared.omp_num_threads, 5);
  EXPECT_THAT(shared.notices,
              ElementsAre("OMP_NUM_THREADS=5 for each worker (16 CPUs, 3 workers); a value "
                          "of your own is kept"));
  EXPECT_EQ(plan_of({"-n", "40", "p"}, gpus(0), std::nullopt, node).omp_num_threads, 1);
  const LaunchPlan one = plan_of({"-n", "1", "p"}, gpus(0), std::nullopt, node);
  EXPECT_EQ(one.omp_num_threads, std::nullopt);
  EXPECT_THAT(one.notices, IsEmpty());
  EXPECT_EQ(plan_of({"-n", "3", "p"}, gpus(0)).omp_num_threads, std::nullopt) << "the user set it";
}

TEST(Make, PassesOnWhatMustBeSaid) {
  EXPECT_THAT(plan_of({"--standalone", "--master-port=1", "p"}, gpus(0)).notices,
              Contains(HasSubstr("--master-port: meaningless")));
  EXPECT_THAT(plan_of({"-n", "1", "p"}, gpus(8), "1,,2").notices,
              Contains(HasSubstr("ends before")));
  devices::NodeGpus broken;
  broken.remark = "the NVIDIA driver does not start: Driver Not Loaded";
  broken.failed = true;
  EXPECT_THAT(plan_of({"p"}, broken).notices, ElementsAre(broken.remark));
  EXPECT_THAT(plan_of({"p"}, gpus(0)).notices, IsEmpty()) << "no driver is normal";
}

TEST(Make, WhatAllNodesWouldSayComesFirst) {
  Node node = a_node();
  node.omp_num_threads_set = false;
  const LaunchPlan plan = plan_of({"--standalone", "--master-port=1", "-n", "2", "-t", "2:1", "p"},
                                  gpus(0), std::nullopt, node);
  EXPECT_EQ(plan.common_notices, 2U);
  EXPECT_THAT(plan.notices, ElementsAre(HasSubstr("--master-port"), HasSubstr("OMP_NUM_THREADS"),
                                        HasSubstr("--tee: there is no local rank 2")));
}

TEST(Make, SaysWhichLocalRanksAreNotThere) {
  EXPECT_THAT(plan_of({"-n", "2", "-r", "0:1,5:3,10-12:1", "-t", "2:1", "p"}, gpus(0)).notices,
              ElementsAre("--redirects: there is no local rank 5, the last one is 1",
                          "--redirects: there is no local rank 10, the last one is 1",
                          "--tee: there is no local rank 2, the last one is 1"));
  EXPECT_THAT(
      plan_of({"-n", "2", "--local-ranks-filter", "2,7-9", "p"}, gpus(0)).notices,
      ElementsAre("--local-ranks-filter: it has none of the local ranks, the last one is 1; "
                  "no output is shown"));
  EXPECT_THAT(plan_of({"-n", "2", "-r", "0-7:3,*:1", "-t", "3", "--local-ranks-filter", "1-9", "p"},
                      gpus(0))
                  .notices,
              IsEmpty());
}

TEST(Make, StdinGoesToARankThatIsThere) {
  EXPECT_THAT(plan_of({"--stdin", "1", "-n", "gpu", "p"}, gpus(2)).workers, SizeIs(2));
  EXPECT_EQ(refusal_of({"--stdin", "2", "-n", "gpu", "p"}, gpus(2)),
            "--stdin 2: there is no such rank, with 2 workers the last one is 1");
}

TEST(Make, KeepsTheRole) {
  EXPECT_EQ(plan_of({"--role", "trainer", "p"}, gpus(0)).role, "trainer");
}

// Whether these ranks exist is known only now that the workers are counted.
TEST(Make, RanksThatAreNotThereAreRefused) {
  const auto refusal = [](const cli::JobSpec& job) {
    const auto plan = make(job, gpus(2), devices::visible(std::nullopt, gpus(2)), a_node());
    return plan ? "" : plan.error().text;
  };
  cli::JobSpec job = job_of({"p"});
  job.stdin_rank = 1;
  EXPECT_EQ(refusal(job), "");
  job.stdin_rank = 2;
  EXPECT_EQ(refusal(job), "--stdin 2: there is no such rank, with 2 workers the last one is 1");
  job.stdin_rank.reset();
  job.wraps = {{{{{1, 9}}}, {"gdb"}}};
  EXPECT_EQ(refusal(job), "");
  job.wraps = {{{{{1, 9}}}, {"gdb"}}, {{{{2, 9}}}, {"perf", "stat"}}};
  EXPECT_EQ(refusal(job), "--wrap: 'perf' is for none of the ranks; the last one is 1");
}

}  // namespace
}  // namespace ddprun::plan
