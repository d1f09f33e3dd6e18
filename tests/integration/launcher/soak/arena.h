// Runs one scenario with a real ddprun and looks for what it has left behind: processes, files and
// a listening port.
#pragma once

#include <sys/types.h>

#include <string>

#include "tests/integration/launcher/soak/scenario.h"
#include "tests/integration/support/run.h"

namespace ddprun::soak {

struct RunResult {
  End end;
  // What was wrong with the run and with what it left; empty when nothing was.
  std::string wrong;
};

class Arena {
 public:
  // Makes this process the one to which every process of a run falls that loses its parent. Only
  // for programs that have no other children.
  Arena(std::string ddprun, std::string worker);

  // Runs and looks. What is left is killed and removed.
  RunResult run(const Scenario& scenario);

 private:
  pid_t start(const Scenario& scenario) const;
  pid_t disturb(const Scenario& scenario, pid_t guardian, int guardian_pidfd) const;
  // Waits for the end of `pid`, and of the launcher if that has outlived its guardian.
  std::string watch(const Scenario& scenario, pid_t pid, End& end);
  std::string left_processes() const;
  std::string left_files(const Scenario& scenario, const End& end) const;
  std::string left_port() const;
  void clear();

  std::string ddprun_, worker_;
  test::TemporaryFolder folder_;
  std::string mark_;  // in the environment of every process of a run
};

}  // namespace ddprun::soak
