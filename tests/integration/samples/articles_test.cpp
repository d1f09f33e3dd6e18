// The experiments of the articles, as a reader runs them.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "tests/integration/samples/bars.h"
#include "tests/integration/support/run.h"

namespace ddprun::test {
namespace {

using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

constexpr std::chrono::seconds kLimit{250};

// A line of the table at the end.
struct Line {
  std::string name;
  int workers, batch;
  double rate, seconds, loss, accuracy;
};

std::vector<Line> table(const std::string& out) {
  std::vector<Line> all;
  for (const auto& line : lines(out)) {
    Line found;
    // A name may hold blanks: it ends where the columns begin.
    const auto end = line.find("  ");
    if (end == line.npos || end == 0) continue;
    std::istringstream rest(line.substr(end));
    if (rest >> found.workers >> found.batch >> found.rate >> found.seconds >> found.loss >>
        found.accuracy) {
      found.name = line.substr(0, end);
      all.push_back(found);
    }
  }
  return all;
}

class Articles : public ::testing::Test {
 protected:
  Finished sample(const char* program, Words words, const Words& environment = {}) {
    words.insert(words.begin(), program);
    Words all = environment;
    if (environment.empty()) all.push_back("DDPRUN_DEVICE=cpu");
    all.push_back(
        "OMP_NUM_THREADS=1");  // threads that wait for each other suffer most from other work
    return run(words, {.environment = all, .limit = kLimit});
  }
  TemporaryFolder folder;
};

TEST_F(Articles, FromScratchLearnsTheSameWithAnyNumberOfWorkers) {
  write_bars(folder.path(), 400, 20);
  const auto job = sample(DATA_PARALLEL_FROM_SCRATCH,
                          {"--data", folder.path(), "--workers=1,2,3", "--epochs=4"});
  ASSERT_EQ(job.code, 0) << job.err;
  EXPECT_THAT(job.out, MatchesRegex("LeNet, 4 epochs, 400 images of " + folder.path() +
                                    " \\(28x28\\), [0-9]+ CPU cores?\n(.|\n)*"));
  const auto found = table(job.out);
  ASSERT_EQ(found.size(), 3u) << job.out;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found[i].workers, static_cast<int>(i) + 1);
    EXPECT_EQ(found[i].batch, 32);
    EXPECT_EQ(found[i].accuracy, 1);
    EXPECT_GT(found[i].seconds, 0);
    EXPECT_NEAR(found[i].loss, found[0].loss, 0.01);
  }
}

TEST_F(Articles, LinearScalingGivesMoreWorkersALargerBatchAndRate) {
  write_bars(folder.path(), 100, 20);
  const auto job = sample(DATA_PARALLEL_FROM_SCRATCH,
                          {"--data", folder.path(), "--workers=2", "--epochs=1", "--batch-size=20",
                           "--lr=0.01", "--scaling=linear", "--images=80"});
  ASSERT_EQ(job.code, 0) << job.err;
  EXPECT_THAT(job.out, HasSubstr("80 images of "));
  const auto found = table(job.out);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].batch, 40);
  EXPECT_EQ(found[0].rate, 0.02);
}

TEST_F(Articles, ConciseTrainsTheSameNetworkInBothForms) {
  write_bars(folder.path(), 32, 10);
  const auto job =
      sample(DATA_PARALLEL_CONCISE,
             {"--data", folder.path(), "--workers=1,2", "--epochs=1", "--batch-size=16"},
             {"DDPRUN_SIMULATED_GPUS=1"});  // too few for the second worker
  ASSERT_EQ(job.code, 0) << job.err;
  EXPECT_THAT(lines(job.out), Contains(MatchesRegex("DDP  .* CPU *")).Times(2));
  const auto found = table(job.out);
  ASSERT_EQ(found.size(), 4u) << job.out;
  const char* const names[] = {"data_parallel", "DDP", "data_parallel", "DDP"};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(found[i].name, names[i]);
    EXPECT_EQ(found[i].workers, i < 2 ? 1 : 2);
    EXPECT_GT(found[i].loss, 0);
  }
  EXPECT_NEAR(found[0].loss, found[1].loss, 1e-3) << "one worker is the plain network in both";
  EXPECT_EQ(found[0].accuracy, found[1].accuracy);
  // Batch norm sees half a batch in both, but not the same half.
  EXPECT_NEAR(found[2].loss, found[3].loss, 0.5);
}

TEST_F(Articles, ConciseMissesItsDataBeforeItStartsAnyProcess) {
  const auto job = sample(DATA_PARALLEL_CONCISE, {"--data", folder.path(), "--form=ddp"});
  EXPECT_EQ(job.code, 1);
  EXPECT_THAT(job.err, StartsWith("data_parallel_concise: " + folder.path() +
                                  "/train-images-idx3-ubyte: expected this file"));
}

// Both ranks fail at the same moment, and spawn says which one it heard of first.
TEST_F(Articles, AFailureInAProcessNamesItsRank) {
  const auto job = sample(DP_VERSUS_DDP, {"--nprocs=2", "--save", folder / "none/model.pt"});
  EXPECT_EQ(job.code, 1);
  EXPECT_THAT(job.err,
              ContainsRegex("dp_versus_ddp: \\[rank [01]\\] spawn: worker 'demo_ddp' failed: "));
  EXPECT_THAT(job.err,
              HasSubstr("save_on_rank0 failed on rank 0: save: " + (folder / "none/model.pt")));
}

TEST_F(Articles, BothFormsLeaveTheGradientOfTheWholeBatch) {
  const auto job = sample(DP_VERSUS_DDP, {"--nprocs=2", "--save", folder / "model.pt"});
  ASSERT_EQ(job.code, 0) << job.out << job.err;
  const auto out = lines(job.out);
  EXPECT_THAT(out, Contains("  in the model: input size [10, 10], output size [10, 5]").Times(6));
  EXPECT_THAT(out, Contains("  outside: output size [20, 5]"));
  for (const char* row : {"data_parallel", "DDP", "mean of the ranks' own"}) {
    EXPECT_THAT(out, Contains(MatchesRegex(std::string(row) + " +[0-9.]+ +1\\.000 .*")));
  }
  EXPECT_THAT(out, Contains(MatchesRegex("sum of the ranks' own +[0-9.]+ +2\\.000 .*")));
  EXPECT_EQ(out.back(),
            "DDP's gradient is the average over the ranks, that of the whole batch: yes");
}

TEST_F(Articles, EveryRankLoadsToItsOwnDevice) {
  const auto job = sample(DP_VERSUS_DDP, {"--nprocs=2", "--save", folder / "model.pt"},
                          {"DDPRUN_SIMULATED_GPUS=2", "CUDA_VISIBLE_DEVICES=5,3"});
  ASSERT_EQ(job.code, 0) << job.out << job.err;
  EXPECT_TRUE(std::filesystem::exists(folder / "model.pt"));
  Words loaded;
  for (const auto& line : lines(job.out)) {
    if (line.find(" loaded what rank 0 saved") != line.npos) loaded.push_back(line);
  }
  std::ranges::sort(loaded);
  ASSERT_EQ(loaded.size(), 2u) << job.out;
  EXPECT_THAT(loaded[0],
              HasSubstr("rank 0 loaded what rank 0 saved, to cpu (simulates cuda:0, GPU 5)"));
  EXPECT_THAT(loaded[1],
              HasSubstr("rank 1 loaded what rank 0 saved, to cpu (simulates cuda:1, GPU 3)"));
  const auto sum = [](const std::string& line) { return line.substr(line.rfind(' ')); };
  EXPECT_EQ(sum(loaded[0]), sum(loaded[1])) << "the ranks began with other weights";
}

TEST_F(Articles, WithFewerGpusThanRanksAllComputeOnTheCpu) {
  const auto job = sample(DP_VERSUS_DDP, {"--nprocs=2", "--save", folder / "model.pt"},
                          {"DDPRUN_SIMULATED_GPUS=1"});
  ASSERT_EQ(job.code, 0) << job.out << job.err;
  EXPECT_THAT(job.out, HasSubstr("DataParallel: one process, 2 replicas on the CPU\n"));
  for (const char* rank : {"0", "1"}) {
    EXPECT_THAT(job.out,
                HasSubstr("rank " + std::string(rank) + " loaded what rank 0 saved, to cpu: "));
  }
}

TEST_F(Articles, WrongOptionsAreOneLineAndHelpHasThemAll) {
  for (const char* program : {DATA_PARALLEL_FROM_SCRATCH, DATA_PARALLEL_CONCISE, DP_VERSUS_DDP}) {
    const auto help = sample(program, {"--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr("--batch-size N"));
    const auto wrong = sample(program, {"--no-such-option"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_THAT(lines(wrong.err), ElementsAre(HasSubstr("unknown option '--no-such-option'")));
    EXPECT_THAT(wrong.out, IsEmpty());
  }
  EXPECT_THAT(
      sample(DATA_PARALLEL_CONCISE, {"--workers=8", "--batch-size=4"}).err,
      HasSubstr("--batch-size: expected at least one image for each of 8 workers, found '4'"));
  EXPECT_THAT(
      sample(DP_VERSUS_DDP, {"--nprocs=3"}).err,
      HasSubstr("--batch-size: expected a multiple of 3, the number of processes, found '20'"));
}

TEST_F(Articles, WithoutDataSaysWhereItComesFrom) {
  const auto job = sample(DATA_PARALLEL_FROM_SCRATCH, {},
                          {"DIGITS_CSV=" + (folder / "none"), "DDPRUN_DEVICE=cpu"});
  EXPECT_EQ(job.code, 1);
  EXPECT_THAT(job.err, HasSubstr((folder / "none") + " is not there. './dev demo' fetches it"));
}

}  // namespace
}  // namespace ddprun::test
