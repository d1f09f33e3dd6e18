// What the agent tells --events. docs/events.md describes each event.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "launcher/plan/launch_plan.h"
#include "launcher/report/event_log.h"
#include "launcher/report/report.h"
#include "launcher/supervise/group.h"

namespace ddprun::agent {

// Without --events each call costs one look at a descriptor that is not there.
class JobEvents {
 public:
  // Borrows `plan`.
  JobEvents(const plan::LaunchPlan& plan, std::string host) : plan_(plan), host_(std::move(host)) {}

  // From now on events are written.
  void write_to(report::EventLog log) { log_ = std::move(log); }

  void job_started(const std::string& run_id, const std::vector<std::string>& command);
  void worker_started(int attempt, const supervise::WorkerEnd& worker);
  void worker_ended(int attempt, const supervise::WorkerEnd& worker);
  // The first failure of an attempt is told once.
  void first_failure(int attempt, const supervise::Outcome& outcome);
  void stopping(int attempt, const supervise::Decision& decision);
  // `attempt` is the one that begins.
  void restart(int attempt, const std::string& reason);
  void job_ended(const supervise::Outcome& outcome, const report::ExitDecision& end);

  // Events that nobody will see, because the reader of the pipe did not read.
  std::size_t dropped() const { return log_.dropped(); }

 private:
  boost::json::object worker_fields(int attempt, const supervise::WorkerEnd& worker) const;

  report::EventLog log_;
  const plan::LaunchPlan& plan_;
  std::string host_;
  int failed_attempt_ = -1;
};

}  // namespace ddprun::agent
