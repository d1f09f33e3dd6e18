// Starts the workers of one round: their environment, streams, directories and programs.
#pragma once

#include <boost/system/result.hpp>
#include <optional>
#include <string>

#include "launcher/agent/job_parts.h"
#include "launcher/agent/workers.h"
#include "launcher/plan/worker_environment.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::agent {

// Either a step of starting the process failed, or what had to be there before (`text`).
struct StartFailure {
  std::optional<process::SpawnStep> step;
  int error = 0;  // errno
  std::string text;
  int local_rank = 0;
};

class Starter {
 public:
  // Borrows `parts`; copies the rest.
  Starter(const JobParts& parts, const plan::Meeting& meeting);

  // Starts the worker of `local_rank` and lets `workers` watch it. `progress`, if there is one, is
  // its end of a progress pipe. Returns its pid.
  boost::system::result<pid_t, StartFailure> start(Workers& workers, int local_rank,
                                                   UniqueFd progress);

  // What to tell the user about a failure, and the exit code.
  report::ExecFailure explain(const StartFailure& failure) const;

 private:
  void warn_once(const std::string& refusal);

  const JobParts& parts_;
  int attempt_;
  plan::WorkerEnvironment environment_;
  UniqueFd null_;
  bool refusal_told_ = false;
};

}  // namespace ddprun::agent
