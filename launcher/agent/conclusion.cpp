#include "launcher/agent/conclusion.h"

#include <unistd.h>

#include <fstream>
#include <string>

namespace ddprun::agent {
namespace {

report::Facts facts_of(const JobParts& parts, const Round& last) {
  const plan::LaunchPlan& plan = parts.job.plan;
  report::Facts facts;
  facts.plan = &plan;
  facts.host = parts.job.host;
  facts.attempt = last.attempt();
  facts.exec_failure = last.exec_failure();
  facts.terminal_width = output::terminal_width(STDERR_FILENO);
  facts.output_captured = parts.job.spec.output != cli::OutputMode::inherit;
  facts.error_files.resize(plan.workers.size());
  for (const plan::WorkerPlan& worker : plan.workers) {
    facts.last_stderr.push_back(parts.output.tail_stderr(worker.local_rank));
    facts.last_stdout.push_back(parts.output.tail_stdout(worker.local_rank));
  }
  const auto first_failed = last.outcome().first_failed;
  if (!first_failed) return facts;
  const auto index = static_cast<std::size_t>(*first_failed);
  std::string& text = facts.error_files.at(index);
  text = read_error_file(parts.directory.error_file(facts.attempt, plan.workers.at(index).rank));
  if (!text.empty() || parts.directory.kept())
    facts.log_dir = parts.directory.attempt_path(facts.attempt);
  return facts;
}

// A launcher of launchers finds the cause where it told us to put it, as under torchrun.
void copy_error_file(const JobParts& parts, const std::string& text) {
  const auto path = parts.job.environment.get("TORCHELASTIC_ERROR_FILE");
  if (text.empty() || !path || path->empty()) return;
  std::ofstream file{std::string(*path), std::ios::binary};
  if (!(file << text).flush())
    parts.output.note("ddprun: cannot copy the error file to '" + std::string(*path) + "'");
}

}  // namespace

report::ExitDecision conclude(const JobParts& parts, const Round& last) {
  const supervise::Outcome& outcome = last.outcome();
  const bool success = outcome.cause == supervise::Cause::success;
  const bool quiet = parts.job.spec.verbosity == cli::Verbosity::quiet;
  if (!success || (!outcome.leftovers.empty() && !quiet)) {
    const report::Facts facts = facts_of(parts, last);
    if (outcome.first_failed)
      copy_error_file(parts, facts.error_files.at(static_cast<std::size_t>(*outcome.first_failed)));
    parts.output.note(report::text(outcome, facts));
  }
  if (success) parts.directory.remove();
  // The report of a failed worker has a line for its logs.
  const bool said = outcome.cause == supervise::Cause::worker_failed;
  if (parts.directory.kept() && !said && !quiet)
    parts.output.note("ddprun: logs are in " + parts.directory.path());
  return report::exit_decision(outcome, last.exec_failure());
}

}  // namespace ddprun::agent
