// Tests that share one Slurm, which starts with the first of them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/integration/slurm/cluster.h"

namespace ddprun::test {

class SlurmTest : public testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  // Skipped, with the reason, where there is no Slurm.
  void SetUp() override;
  // Nobody is left of the test.
  void TearDown() override;

  const SlurmCluster& slurm() const { return *cluster_; }
  // The words of srun, which starts one ddprun on each of the four nodes with `options`, and
  // `script` for sh as its program.
  Words on_all_nodes(const Words& options, const std::string& script) const;
  // The same, started. The job bears the name of the test.
  std::unique_ptr<Program> srun(const Words& options, const std::string& script) const;
  // Waits until no process of the job runs any more on the nodes; false after a minute.
  bool nobody_is_left() const;
  // Nobody is left, and each rank below `ranks` has left a file "saved.RANK".
  void expect_saved(int ranks) const;
  // The name of this test, which is that of its job.
  static std::string job();

 private:
  static std::unique_ptr<SlurmCluster> cluster_;
};

}  // namespace ddprun::test
