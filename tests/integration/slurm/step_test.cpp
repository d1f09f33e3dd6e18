// Steps of srun: one ddprun on each node, and what users see when something ends.
#include <gmock/gmock.h>
#include <signal.h>

#include <ranges>

#include "launcher/process/children.h"
#include "tests/integration/slurm/slurm_test.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kMeet = std::string(DDPRUN_TEST_WORKER) + " store 1 key\n";

// All have met; then each waits, and leaves a file when it is told to stop.
const std::string kSaves = "trap 'touch saved.$RANK; exit 0' TERM INT\n" + kMeet +
                           "for i in $(seq 600); do sleep 0.1; done\n";

std::string task_ended(int task, const std::string& how) {
  return "srun: error: n" + std::to_string(task + 1) + ": task " + std::to_string(task) + ": " +
         how;
}

TEST_F(SlurmTest, RanksOfAllNodesMeet) {
  const auto step = srun({"-n", "2"},
                         "echo rank $RANK of $WORLD_SIZE, local $LOCAL_RANK of $LOCAL_WORLD_SIZE, "
                         "node $GROUP_RANK of $GROUP_WORLD_SIZE on $SLURMD_NODENAME, run "
                         "$TORCHELASTIC_RUN_ID of $SLURM_JOB_ID.\n" +
                             kMeet);
  const Finished end = step->finish();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(count_of("met\n", end.out), 8) << end.out << end.err;
  EXPECT_EQ(count_of("OMP_NUM_THREADS=", end.err), 1) << "the first node speaks for all\n"
                                                      << end.err;
  EXPECT_EQ(count_of("Slurm has 127.0.0.1 for it", end.err), 1) << end.err;
  for (int rank = 0; rank < 8; ++rank)
    EXPECT_THAT(end.out, testing::ContainsRegex(
                             "rank " + std::to_string(rank) + " of 8, local " +
                             std::to_string(rank % 2) + " of 2, node " + std::to_string(rank / 2) +
                             " of 4 on n" + std::to_string(rank / 2 + 1) + ", run ([0-9]+) of "));
}

TEST_F(SlurmTest, AFailureOnOneNodeIsTheSameOnAll) {
  const auto step =
      srun({"-n", "1"}, kMeet + "[ $RANK = 2 ] || exec sleep 60\necho the reason >&2; exit 7\n");
  const Finished end = step->finish();
  EXPECT_EQ(end.code, 7) << end.err;
  EXPECT_EQ(count_of("ddprun: rank 2 failed first: exit code 7", end.err), 4) << end.err;
  EXPECT_EQ(count_of("    | the reason\n", end.err), 4) << end.err;
  for (int task = 0; task < 4; ++task)
    EXPECT_THAT(end.err, HasSubstr(task_ended(task, "Exited with exit code 7\n")));
}

TEST_F(SlurmTest, ANodeThatIsSetDownEndsTheStep) {
  const auto step = srun({"-n", "1"}, kSaves);
  ASSERT_TRUE(step->wait_for_output("met\n", 4)) << step->out();
  EXPECT_EQ(slurm().run({"scontrol", "update", "nodename=n3", "state=down", "reason=test"}).code,
            0);
  const Finished end = step->finish();
  EXPECT_EQ(end.code, 143) << end.err;
  EXPECT_THAT(end.err, HasSubstr("Node failure on n3"));
  expect_saved(4);
  EXPECT_TRUE(slurm().is_idle()) << "ReturnToService";
}

TEST_F(SlurmTest, ADdprunThatIsKilledIsALostNode) {
  const auto step = srun({"-n", "1"}, kSaves);
  ASSERT_TRUE(step->wait_for_output("met\n", 4)) << step->out();
  // As when the power fails: nobody sees another one's end. Parents come first in the list, and
  // the end of the outer process would wake the inner one.
  const auto on_n3 = slurm().processes_with("SLURMD_NODENAME=n3");
  for (const pid_t pid : on_n3) ::kill(pid, SIGSTOP);
  for (const pid_t pid : std::views::reverse(on_n3)) ::kill(pid, SIGKILL);
  const Finished end = step->finish();
  EXPECT_EQ(end.code, 137) << end.err;
  EXPECT_THAT(end.err, HasSubstr(task_ended(2, "Killed\n")));
  EXPECT_EQ(count_of("is lost: it has closed its connection", end.err), 3) << end.err;
  for (const int task : {0, 1, 3})
    EXPECT_THAT(end.err, HasSubstr(task_ended(task, "Exited with exit code 125\n")));
}

TEST_F(SlurmTest, ScancelLetsAllWorkersSave) {
  const auto step = srun({"-n", "2"}, kSaves);
  ASSERT_TRUE(step->wait_for_output("met\n", 8)) << step->out();
  EXPECT_EQ(slurm().run({"scancel", "--name", job()}).code, 0);
  const Finished end = step->finish();
  EXPECT_EQ(end.code, 143) << end.err;
  expect_saved(8);
  EXPECT_THAT(end.err, AllOf(HasSubstr("stopped by SIGTERM"), Not(HasSubstr("failed first")),
                             Not(HasSubstr("lost"))));
}

TEST_F(SlurmTest, SeveralInterruptsOfSrunEndAll) {
  const auto step = srun({"-n", "1"}, kSaves);
  ASSERT_TRUE(step->wait_for_output("met\n", 4)) << step->out();
  // The second one within a second passes it on, and when the first task has ended srun kills the
  // others.
  EXPECT_TRUE(comes_true([&] {
    ::kill(step->pid(), SIGINT);
    return comes_to_state(step->pid(), 'Z', std::chrono::milliseconds(300));
  }));
  const Finished end = step->finish();
  EXPECT_NE(end.code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("sending Ctrl-C"));
  EXPECT_TRUE(nobody_is_left());
}

// Slurm can reach what it had started on that node no more, and does not stop the others.
TEST_F(SlurmTest, AKilledSlurmstepdEndsTheJob) {
  const auto step = srun({"-n", "1"}, kSaves);
  ASSERT_TRUE(step->wait_for_output("met\n", 4)) << step->out();
  const auto on_n3 = slurm().processes_with("SLURMD_NODENAME=n3");
  ASSERT_FALSE(on_n3.empty());
  const pid_t slurmstepd = process::parent_of(on_n3.front());
  ASSERT_GT(slurmstepd, 0);
  ::kill(slurmstepd, SIGKILL);
  expect_saved(4);
  EXPECT_TRUE(step->wait_for_error(task_ended(0, "Exited with exit code 143\n")));
}

// Slurm sends SIGTSTP, two seconds later SIGSTOP to everything, and SIGCONT.
TEST_F(SlurmTest, GoesOnWhenASuspendIsOver) {
  const auto step = srun({"-n", "1", "--rdzv-conf",
                          "keep_alive_interval=0.1,"
                          "keep_alive_max_attempt=10"},
                         kMeet + "while [ ! -e go ]; do sleep 0.1; done\n");
  ASSERT_TRUE(step->wait_for_output("met\n", 4)) << step->out();
  const std::string id =
      lines(slurm().run({"squeue", "--noheader", "--format=%A", "--name", job()}).out).at(0);
  const Finished suspended = slurm().run({"scontrol", "suspend", id});
  ASSERT_EQ(suspended.code, 0) << suspended.err;
  const auto on_nodes = slurm().processes_with("SLURM_JOB_NAME=" + job());
  ASSERT_FALSE(on_nodes.empty());
  for (const pid_t pid : on_nodes) EXPECT_TRUE(comes_to_state(pid, 'T')) << pid;
  EXPECT_FALSE(comes_to_state(on_nodes.front(), 'S', std::chrono::seconds(4)));
  slurm().write("go", "");
  const Finished resumed = slurm().run({"scontrol", "resume", id});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  const Finished end = step->finish();
  EXPECT_EQ(end.code, 0) << end.err;
}

TEST_F(SlurmTest, TheGpusOfAStepAreItsWorkers) {
  Words words = on_all_nodes({"--simulate-gpus", "8"}, "echo rank $RANK of $WORLD_SIZE\n");
  words.insert(words.begin() + 1, "--gpus-per-node=2");
  const Finished end = slurm().run(words);
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("rank 7 of 8\n")) << end.err;
}

TEST_F(SlurmTest, MoreThanOneTaskOnANodeIsRefused) {
  Words words = on_all_nodes({}, "true\n");
  words[3] = "--ntasks-per-node=2";
  const Finished end = slurm().run(words);
  EXPECT_EQ(end.code, 2) << end.err;
  EXPECT_THAT(end.err, HasSubstr("write srun --ntasks-per-node=1"));
}

}  // namespace
}  // namespace ddprun::test
