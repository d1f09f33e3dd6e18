#include "launcher/agent/conclusion.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "launcher/agent/results.h"
#include "launcher/plan/command.h"
#include "launcher/report/core_dump.h"
#include "launcher/report/error_file.h"

namespace ddprun::agent {
namespace {

std::string core_of(const JobParts& parts, const Round& last, const supervise::WorkerEnd& worker) {
  if (!worker.status || !worker.status->core_dumped) return {};
  const auto& planned = parts.job.plan.worker(worker.local_rank);
  const auto words = plan::command_line(planned, parts.job.host, last.attempt());
  std::error_code ignored;
  return report::find_core(
      {.pid = worker.pid,
       .signal = worker.status->value,
       .program = parts.programs.find(words.front()).path,
       .folder = std::filesystem::absolute(parts.job.spec.chdir.value_or("."), ignored).string(),
       .host = parts.job.host,
       .uid = ::getuid(),
       .gid = ::getgid()});
}

report::Facts facts_of(const JobParts& parts, const Round& last, std::optional<int> first_failed) {
  const plan::LaunchPlan& plan = parts.job.plan;
  report::Facts facts;
  facts.plan = &plan;
  facts.host = parts.job.host;
  facts.attempt = last.attempt();
  facts.exec_failure = last.exec_failure();
  facts.terminal_width = output::terminal_width(STDERR_FILENO);
  facts.output_captured = parts.job.spec.output != cli::OutputMode::inherit;
  facts.stacks = last.stacks();
  if (!first_failed) return facts;
  const auto index = static_cast<std::size_t>(*first_failed);
  facts.error_files.resize(index + 1);
  facts.last_stderr.resize(index + 1);
  facts.last_stdout.resize(index + 1);
  facts.last_stderr[index] = parts.output.tail_stderr(*first_failed);
  facts.last_stdout[index] = parts.output.tail_stdout(*first_failed);
  facts.out_of_memory = last.out_of_memory();
  facts.absent = last.absent();
  facts.core = core_of(parts, last, last.outcome().workers.at(index));
  facts.error_files[index] = last.error_file(*first_failed);
  if (!facts.error_files[index].text.empty() || parts.directory.kept())
    facts.log_dir = parts.directory.attempt_path(facts.attempt);
  return facts;
}

// As Python's Popen says it: a signal is a negative number.
int torch_exit_code(const std::optional<supervise::WaitStatus>& status) {
  if (!status) return 1;
  return status->kind == supervise::WaitStatus::Kind::exited ? status->value : -status->value;
}

// A launcher of launchers finds the cause where it told us to put it, as under torchrun.
void copy_error_file(const JobParts& parts, const std::string& text,
                     const std::optional<supervise::WaitStatus>& status) {
  const auto path = parts.job.environment.get("TORCHELASTIC_ERROR_FILE");
  if (text.empty() || !path || path->empty()) return;
  std::ofstream file{std::string(*path), std::ios::binary};
  if (!(file << report::with_error_code(text, torch_exit_code(status))).flush())
    parts.output.note("ddprun: cannot copy the error file to '" + std::string(*path) + "'");
}

void write_results(const JobParts& parts, const supervise::Outcome& outcome,
                   const report::Facts& facts, const report::ExitDecision& end) {
  if (const std::size_t lost = parts.events.dropped(); lost > 0)
    parts.output.note("ddprun: --events: nobody read '" + *parts.job.spec.events + "'; " +
                      std::to_string(lost) + " events were dropped");
  if (!parts.job.spec.report) return;
  const report::JobRecord record =
      record_of(parts.job.spec, parts.job.host, parts.timings, parts.run_id);
  const std::string failed =
      write_report(parts.job.spec, report::json_report(outcome, facts, record, end),
                   [&parts](const std::string& text) { parts.output.print(text); });
  if (!failed.empty()) parts.output.note("ddprun: " + failed);
}

// A named directory that stays because of what is in it is found under the usual name as well; one
// whose files were asked for is so from the start.
void link_what_stays(const JobParts& parts, const report::Facts& facts) {
  const bool something_stays = !facts.log_dir.empty() || !facts.stacks.empty();
  if (!something_stays || parts.directory.kept() || !parts.job.spec.log_dir) return;
  if (const auto linked = parts.directory.link_latest(); !linked)
    parts.output.note("ddprun: " + linked.error().text);
}

bool holds_files(const std::string& folder) {
  std::error_code ignored;
  for (std::filesystem::recursive_directory_iterator entry(folder, ignored), end; entry != end;
       entry.increment(ignored))
    if (!entry->is_directory(ignored)) return true;
  return false;
}

// The report of the last attempt names its own files only.
void name_files_of_earlier_attempts(const JobParts& parts, const report::Facts& facts) {
  if (facts.earlier_attempts.empty() || parts.directory.kept()) return;
  if (facts.log_dir.empty() && facts.stacks.empty() && holds_files(parts.directory.path()))
    parts.output.note("ddprun: files of earlier attempts are in " + parts.directory.path());
}

// Where several nodes come out in one place, who shows all of it says once what all of them say.
void say_last(const JobParts& parts, const supervise::Outcome& outcome, const std::string& text,
              bool happened_here) {
  using supervise::Cause;
  if (!parts.job.upstream) return parts.output.note(text);
  const bool first_hand = happened_here && outcome.cause != Cause::success &&
                          outcome.cause != Cause::stop_signal &&
                          outcome.cause != Cause::guardian_lost;
  parts.job.upstream->report(first_hand, text);
}

}  // namespace

report::ExitDecision conclude(const JobParts& parts, const Round& last,
                              const supervise::Outcome& outcome,
                              const std::vector<supervise::Attempt>& earlier,
                              const std::optional<report::RemoteCause>& remote) {
  const bool success = outcome.cause == supervise::Cause::success;
  const bool quiet = parts.job.spec.verbosity == cli::Verbosity::quiet;
  report::Facts facts = facts_of(parts, last, outcome.first_failed);
  facts.earlier_attempts = earlier;
  facts.remote = remote;
  const bool restarted = !earlier.empty() && !parts.job.spec.rendezvous.first_node_speaks();
  if (!success || ((!outcome.leftovers.empty() || restarted) && !quiet)) {
    if (outcome.first_failed)
      copy_error_file(parts, facts.error_files.back().text,
                      outcome.workers.at(static_cast<std::size_t>(*outcome.first_failed)).status);
    link_what_stays(parts, facts);
    say_last(parts, outcome, report::text(outcome, facts), !remote);
  }
  const report::ExitDecision end = report::exit_decision(outcome, last.exec_failure(), remote);
  parts.events.job_ended(outcome, end);
  write_results(parts, outcome, facts, end);
  if (success)
    parts.directory.remove();
  else
    name_files_of_earlier_attempts(parts, facts);
  // The report of a failed worker has a line for its logs.
  const bool said = outcome.cause == supervise::Cause::worker_failed ||
                    outcome.cause == supervise::Cause::progress_timeout;
  if (parts.directory.kept() && !said && !quiet)
    parts.output.note("ddprun: logs are in " + parts.directory.path());
  return end;
}

}  // namespace ddprun::agent
