// Jobs of sbatch: warned before their time is up, requeued, and by the example that is packaged.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "rendezvous/base/read_file.h"
#include "tests/integration/manual_examples/example.h"
#include "tests/integration/manual_examples/hosts.h"
#include "tests/integration/slurm/slurm_test.h"

namespace ddprun::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class BatchTest : public SlurmTest {
 protected:
  // Submits `script` with `options` to all nodes, and returns the number of the job. What it writes
  // is in the file "out".
  std::string submit(const std::string& script, Words options) const {
    Words words = environment_;
    words.insert(words.end(), {"sbatch", "--parsable", "--output=out", "--open-mode=append",
                               "--job-name", job()});
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(slurm().write(job() + ".sbatch", script));
    const Finished end = slurm().run(words);
    EXPECT_EQ(end.code, 0) << end.err;
    return lines(end.out).at(0);
  }
  std::string output() const { return read_file(slurm().folder() + "/out").value_or(""); }
  // Waits until the job has written `text` so many times.
  bool writes(const std::string& text, int times) const {
    return comes_true([&] { return count_of(text, output()) >= times; });
  }

  Words environment_;  // of the job, in front of ours
};

std::string script_of(const Words& srun) {
  std::string line = "#!/bin/bash\n";
  for (const std::string& word : srun) line += "'" + word + "' ";
  return line + "\n";
}

TEST_F(BatchTest, IsWarnedBeforeItsTimeIsUpAndRunsAgainWhenItIsRequeued) {
  const std::string worker =
      "echo life ${SLURM_RESTART_COUNT:-0} of rank $RANK in run $TORCHELASTIC_RUN_ID\n"
      "trap 'echo warned $RANK' USR1\n"
      "trap 'touch saved.$RANK; exit 0' TERM\n" +
      std::string(DDPRUN_TEST_WORKER) +
      " store 1 key\n"
      "[ -z \"$SLURM_RESTART_COUNT\" ] || exit 0\n"
      "for i in $(seq 900); do sleep 0.1; done\n";
  const std::string id =
      submit(script_of(on_all_nodes({"-n", "1"}, worker)),
             {"--nodes=4", "--ntasks-per-node=1", "--requeue", "--time=10", "--signal=USR1@119"});
  ASSERT_TRUE(writes("met\n", 4)) << output();
  // Slurm warns once, and looks at the time twice a minute; it must not be before they can hear it.
  EXPECT_EQ(slurm().run({"scontrol", "update", "jobid=" + id, "timelimit=2"}).code, 0);
  ASSERT_TRUE(writes("warned ", 4)) << output();
  EXPECT_EQ(slurm().run({"scontrol", "requeue", id}).code, 0);
  expect_saved(4);
  // Else Slurm waits two minutes.
  EXPECT_TRUE(comes_true([&] {
    return slurm().run({"squeue", "--noheader", "--format=%T"}).out == "PENDING\n";
  }));
  EXPECT_EQ(
      slurm().run({"scontrol", "update", "jobid=" + id, "starttime=now", "timelimit=10"}).code, 0);
  ASSERT_TRUE(writes("met\n", 8)) << output();
  EXPECT_TRUE(slurm().is_empty());
  for (int rank = 0; rank < 4; ++rank) {
    const std::string number = std::to_string(rank);
    EXPECT_THAT(output(), AllOf(HasSubstr("life 0 of rank " + number + " in run " + id + "\n"),
                                HasSubstr("life 1 of rank " + number + " in run " + id + ".r1\n")));
    EXPECT_EQ(count_of("warned " + number + "\n", output()), 1) << output();
  }
}

TEST_F(BatchTest, TheExampleTrainsOnAllGpusOfItsNodes) {
  const std::string bin = std::string(DDPRUN_BIN);
  environment_ = {"PATH=" + bin + ":/usr/bin:/bin", "PET_SIMULATE_GPUS=8"};
  const std::string program = slurm().write("train", "#!/bin/sh\necho rank $RANK of $WORLD_SIZE\n");
  ASSERT_EQ(::chmod(program.c_str(), 0700), 0);
  submit(read_file(std::string(DDPRUN_PACKAGING) + "/slurm/ddprun.sbatch").value_or(""), {});
  EXPECT_TRUE(slurm().is_empty());
  for (int rank = 0; rank < 16; ++rank)
    EXPECT_THAT(output(), HasSubstr("rank " + std::to_string(rank) + " of 16\n"));
}

// Its script and its commands as they stand there; the nodes have no GPUs.
TEST_F(BatchTest, ThePageOfTheManualShowsWhatHappens) {
  const std::string file = std::string(DDPRUN_TASK_PAGES) + "/slurm.md";
  const std::string page = read_file(file).value_or("");
  const auto scripts = blocks_of("bash", page);
  ASSERT_EQ(scripts.size(), 1u);
  slurm().write("train.sbatch", scripts[0]);
  const std::string program = slurm().write("train", "#!/bin/sh\necho rank $RANK of $WORLD_SIZE\n");
  ASSERT_EQ(::chmod(program.c_str(), 0700), 0);
  const auto examples = examples_in(page);
  ASSERT_FALSE(examples.empty());
  for (const Example& example : examples) {
    EXPECT_EQ(example.host, "login");
    const Finished end =
        slurm().run({"PATH=" DDPRUN_PROGRAMS ":/usr/bin:/bin", "PET_SIMULATE_GPUS=8",
                     "SLURM_JOB_NAME=" + job(), "/bin/bash", "-c", example.command},
                    {.limit = std::chrono::seconds(60)});
    expect_shown(file, example, end);
  }
}

TEST_F(BatchTest, ADdprunOnTheFirstOfSeveralNodesIsRefused) {
  submit("#!/bin/sh\n" + std::string(DDPRUN_BIN) + "/ddprun --cluster slurm true\n", {"--nodes=2"});
  EXPECT_TRUE(slurm().is_empty());
  EXPECT_THAT(output(), HasSubstr("this ddprun was not started by srun, so it runs on one of 2 "
                                  "nodes (SLURM_JOB_NUM_NODES=2)"));
}

}  // namespace
}  // namespace ddprun::test
