// Outcomes of imaginary jobs for the tests of the report room.
#pragma once

#include <chrono>
#include <csignal>
#include <string>

#include "launcher/report/report.h"

namespace ddprun::report {

using namespace std::chrono_literals;
using supervise::Cause;
using supervise::Ending;
using supervise::WaitStatus;

inline WaitStatus exited(int code) {
  return {WaitStatus::Kind::exited, code, false};
}
inline WaitStatus died(int signal, bool core = false) {
  return {WaitStatus::Kind::signaled, signal, core};
}

// A job on host gpu07 in which every worker was stopped by ddprun with SIGTERM at `2 s`; tests
// change what they are about.
struct Job {
  explicit Job(int workers) {
    plan.world_size = workers;
    for (int i = 0; i < workers; ++i) {
      plan.workers.push_back({i, i, std::nullopt, std::nullopt, {"./train"}});
      outcome.workers.push_back(
          {i, 4709 + i, start(), start() + 2s, exited(0), Ending::stopped, SIGTERM});
    }
    outcome.stopping_since = start();
    facts.host = "gpu07";
    facts.last_stderr.resize(plan.workers.size());
    facts.last_stdout.resize(plan.workers.size());
    facts.error_files.resize(plan.workers.size());
  }

  static supervise::Time start() { return supervise::Time(100s); }

  void end(int rank, Ending ending, WaitStatus status, std::chrono::nanoseconds after) {
    auto& worker = outcome.workers.at(static_cast<std::size_t>(rank));
    worker.ending = ending;
    worker.status = status;
    worker.ended = start() + after;
  }
  void fail_first(int rank, WaitStatus status, std::chrono::nanoseconds after) {
    outcome.cause = Cause::worker_failed;
    outcome.first_failed = rank;
    end(rank, Ending::failed_first, status, after);
    outcome.workers.at(static_cast<std::size_t>(rank)).last_signal = 0;
  }
  std::string text() {
    facts.plan = &plan;
    return report::text(outcome, facts);
  }

  plan::LaunchPlan plan;
  supervise::Outcome outcome;
  Facts facts;
};

}  // namespace ddprun::report
