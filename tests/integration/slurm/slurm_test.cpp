#include "tests/integration/slurm/slurm_test.h"

#include <unistd.h>

#include <filesystem>

namespace ddprun::test {

std::unique_ptr<SlurmCluster> SlurmTest::cluster_;

void SlurmTest::SetUpTestSuite() {
  if (SlurmCluster::why_not().empty()) cluster_ = std::make_unique<SlurmCluster>();
}

void SlurmTest::TearDownTestSuite() {
  cluster_.reset();
}

void SlurmTest::SetUp() {
  if (const std::string why = SlurmCluster::why_not(); !why.empty()) GTEST_SKIP() << why;
  ASSERT_TRUE(cluster_) << "Slurm was not started";
}

void SlurmTest::TearDown() {
  if (!cluster_) return;
  slurm().run({"scancel", "--user", std::to_string(::getuid())});
  EXPECT_TRUE(slurm().is_empty());
  EXPECT_TRUE(nobody_is_left());
  std::filesystem::remove_all(slurm().folder());
  std::filesystem::create_directory(slurm().folder());
}

bool SlurmTest::nobody_is_left() const {
  const std::string name = "SLURM_JOB_NAME=" + job();
  return comes_true([&] { return slurm().processes_with(name).empty(); });
}

void SlurmTest::expect_saved(int ranks) const {
  EXPECT_TRUE(nobody_is_left());
  for (int rank = 0; rank < ranks; ++rank)
    EXPECT_TRUE(std::filesystem::exists(slurm().folder() + "/saved." + std::to_string(rank)))
        << rank;
}

std::string SlurmTest::job() {
  return testing::UnitTest::GetInstance()->current_test_info()->name();
}

Words SlurmTest::on_all_nodes(const Words& options, const std::string& script) const {
  Words words{"srun",       "--nodes", std::to_string(SlurmCluster::kNodes), "--ntasks-per-node=1",
              "--job-name", job()};
  Words launch{"--cluster", "slurm"};
  launch.insert(launch.end(), options.begin(), options.end());
  launch.insert(launch.end(), {"--", "sh", slurm().write(job() + ".sh", script)});
  launch = ddprun_words(launch);
  words.insert(words.end(), launch.begin(), launch.end());
  return words;
}

std::unique_ptr<Program> SlurmTest::srun(const Words& options, const std::string& script) const {
  return slurm().start(on_all_nodes(options, script), {.limit = std::chrono::seconds(60)});
}

}  // namespace ddprun::test
