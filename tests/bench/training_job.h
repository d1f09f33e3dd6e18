// Two ranks that train when they are told to (train/train_worker.py says how they are told).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rendezvous/base/unique_fd.h"
#include "tests/bench/observed_process.h"
#include "tests/bench/setup.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::bench {

// Owns the job until the object goes.
class TrainingJob {
 public:
  // Starts `command` with the name of a model and of a socket behind it, and returns when both
  // ranks have made their first step. This and all else throws when the job ends early, or is
  // silent for two minutes.
  TrainingJob(const Words& command, const std::string& model);
  ~TrainingJob();
  TrainingJob(const TrainingJob&) = delete;
  TrainingJob& operator=(const TrainingJob&) = delete;

  // From before the start until the slower rank had made its first step.
  double milliseconds_to_first_step() const { return to_first_step_; }

  struct Turn {
    double milliseconds = 0;    // a step, of the slower rank
    double peak_megabytes = 0;  // resident, of the larger rank, since its start
  };
  // Both ranks make so many steps, one after the other.
  Turn turn(int steps);

 private:
  void wait_for_input(int fd) const;
  std::string line_from(int connection) const;

  test::TemporaryFolder folder_;
  std::vector<UniqueFd> connections_;
  std::optional<ObservedProcess> process_;
  UniqueFd ended_;  // the process's pidfd
  double to_first_step_ = 0;
};

}  // namespace ddprun::bench
