// A real Slurm on this machine: one slurmctld and some slurmds on the loopback interface, without
// root, munge or systemd. Its nodes n1, n2, … are names that only Slurm knows, all with 127.0.0.1.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/integration/support/run.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::test {

using Words = std::vector<std::string>;

// Asks again and again, for a minute at most or for `limit`; nothing tells when Slurm is done.
bool comes_true(const std::function<bool()>& condition,
                std::chrono::seconds limit = std::chrono::minutes(1));

struct SlurmOptions {
  int nodes = 4;
  int cpus = 64;                   // of each node, whatever the machine has
  std::chrono::seconds life{300};  // it must end before, or its end is not clean
};

class SlurmCluster {
 public:
  static constexpr int kNodes = SlurmOptions{}.nodes;

  // Why there can be none on this machine; empty: there can.
  static std::string why_not();

  // Starts it on free ports and waits until all nodes are idle. A std::runtime_error with the end
  // of the logs where they do not become idle.
  explicit SlurmCluster(SlurmOptions options = {});
  // Ends the daemons, and all that they have started.
  ~SlurmCluster();
  SlurmCluster(const SlurmCluster&) = delete;

  // Runs one of Slurm's commands, "srun" or "scancel", in folder(). Variables may
  // stand in front of it, as for env.
  std::unique_ptr<Program> start(Words words, RunOptions options = {}) const;
  Finished run(Words words, RunOptions options = {}) const;

  // Waits until no job is there any more; false after a minute.
  bool is_empty() const;
  // The same for the nodes, that all are idle.
  bool is_idle() const;

  // What SLURM_CONF has to be for Slurm's commands that this class does not start.
  std::string configuration_file() const { return folder_ / "slurm.conf"; }

  // A folder for the files of a test.
  std::string folder() const { return folder_ / "work"; }
  std::string write(const std::string& name, const std::string& text) const;

  // What runs on the nodes with `entry` in its environment, "SLURMD_NODENAME=n3".
  std::vector<pid_t> processes_with(const std::string& entry) const;

 private:
  void start_daemons();
  void end_daemons();
  std::string daemon(const std::string& name, const std::string& line) const;
  bool come_up() const;
  bool answers(const Words& question, const std::string& answer) const;
  bool nodes_are_idle() const;
  std::string last_lines() const;

  SlurmOptions options_;
  TemporaryFolder folder_;
  std::unique_ptr<Program> keeper_;
};

}  // namespace ddprun::test
