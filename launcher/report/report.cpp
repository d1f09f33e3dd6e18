#include "launcher/report/report.h"

#include <algorithm>
#include <csignal>
#include <cstddef>

#include "launcher/report/attempts.h"
#include "launcher/report/blame.h"
#include "launcher/report/fates.h"
#include "launcher/report/last_output.h"
#include "launcher/report/printable.h"
#include "launcher/report/ranks.h"

namespace ddprun::report {
namespace {

using supervise::Cause;
using supervise::Outcome;
using supervise::WorkerEnd;
using Lines = std::vector<std::string>;

constexpr std::size_t kScreen = 23;  // and the shell's prompt
constexpr std::size_t kMostOutput = 21;
constexpr std::size_t kLeastOutput = 6;
constexpr std::size_t kMostLeftovers = 4;

std::size_t width_of(const Facts& facts) {
  return static_cast<std::size_t>(std::max(facts.terminal_width, 40));
}

std::string and_host(const Facts& facts) {
  return facts.plan->number_of_nodes > 1 ? " on host " + facts.host : "";
}

// The phrases behind `first`, broken between phrases where a row is full.
Lines join(const std::string& first, const Lines& phrases, std::size_t width) {
  Lines lines{first};
  for (std::size_t i = 0; i < phrases.size(); ++i) {
    const std::string phrase = phrases[i] + (i + 1 < phrases.size() ? "," : "");
    const bool begins = i == 0;
    if (!begins && columns(lines.back()) + 1 + columns(phrase) > width) {
      lines.push_back("       ");
    }
    lines.back() += " " + phrase;
  }
  return lines;
}

std::string device(const plan::WorkerPlan& worker, const plan::LaunchPlan& plan) {
  if (!worker.gpu) return "CPU";
  return "GPU " + std::to_string(worker.gpu->index) + (plan.simulated_gpus ? " (simulated)" : "");
}

std::size_t rows(const Lines& lines, std::size_t width) {
  std::size_t sum = 0;
  for (const std::string& line : lines)
    sum += std::max<std::size_t>((columns(line) + width - 1) / width, 1);
  return sum;
}

Lines leftovers(const Outcome& outcome, const Facts& facts) {
  const std::size_t count = outcome.leftovers.size();
  if (count == 0) return {};
  std::string line = "ddprun: stopped " + std::to_string(count) +
                     (count == 1 ? " process" : " processes") + " that workers had left" +
                     and_host(facts) + ":";
  for (std::size_t i = 0; i < count && i < kMostLeftovers; ++i) {
    const auto& left = outcome.leftovers[i];
    line += (i == 0 ? " " : ", ") + std::to_string(left.pid) + " '" +
            shorten(printable(left.command), 40) + "'";
  }
  if (count > kMostLeftovers) line += " and " + std::to_string(count - kMostLeftovers) + " more";
  return {line};
}

// Of those that fall silent together one hangs and the others wait for it.
Lines silent_too(const std::vector<int>& ranks) {
  if (ranks.empty()) return {};
  return {"  " + fold_ranks(ranks) +
          " fell silent within a second of it; which one hangs, the stacks tell"};
}

Lines first_failure_head(const Outcome& outcome, const WorkerEnd& worker,
                         const plan::WorkerPlan& plan, const Facts& facts) {
  return {
      "ddprun: " + who_failed_first(plan.rank, facts.absent) + ": " + what_failed(outcome, facts),
      "  host " + facts.host + ", local rank " + std::to_string(plan.local_rank) + ", " +
          device(plan, *facts.plan) + ", pid " + std::to_string(worker.pid) + ", attempt " +
          std::to_string(facts.attempt)};
}

// One line, whatever the number of ranks: the files lie side by side.
Lines stacks(const Outcome& outcome, const Facts& facts) {
  std::vector<int> ranks;
  std::string first;
  for (const WorkerEnd& worker : outcome.workers) {
    const std::string file = at_or_empty(facts.stacks, worker.local_rank);
    if (file.empty()) continue;
    if (ranks.empty()) first = file;
    ranks.push_back(facts.plan->rank_of(worker.local_rank));
  }
  if (ranks.empty()) return {};
  return {"  stacks of " + fold_ranks(ranks) + ": " + first + (ranks.size() > 1 ? ", …" : "")};
}

Lines worker_failed(const Outcome& outcome, const Facts& facts, std::size_t rows_taken) {
  const int local_rank = outcome.first_failed.value();
  const auto& worker = outcome.workers.at(static_cast<std::size_t>(local_rank));
  const auto& plan = facts.plan->worker(local_rank);
  const std::size_t width = width_of(facts);
  Lines lines = first_failure_head(outcome, worker, plan, facts);
  for (const std::string& line : silent_too(facts.plan->ranks_of(outcome.silent_too)))
    lines.push_back(line);
  Lines rest;
  const Lines others = fates(outcome, facts);
  if (!others.empty()) rest = join("  then:", others, width);
  for (const std::string& line : earlier_attempts(facts)) rest.push_back(line);
  if (!facts.core.empty()) rest.push_back("  " + facts.core);
  for (const std::string& line : stacks(outcome, facts)) rest.push_back(line);
  if (!facts.log_dir.empty())
    rest.push_back("  logs: " + facts.log_dir + "/" + std::to_string(plan.rank) + "/");
  const std::size_t taken = rows(lines, width) + rows(rest, width) + rows_taken;
  const std::size_t room =
      std::clamp(kScreen - std::min(kScreen, taken), kLeastOutput, kMostOutput);
  const Said said{at_or_empty(facts.last_stderr, local_rank),
                  at_or_empty(facts.last_stdout, local_rank),
                  at_or_empty(facts.error_files, local_rank), facts.output_captured};
  const Lines output = last_output(said, room, width);
  lines.insert(lines.end(), output.begin(), output.end());
  lines.insert(lines.end(), rest.begin(), rest.end());
  return lines;
}

Lines exec_failed(const Outcome& outcome, const Facts& facts) {
  const int local_rank = outcome.first_failed.value_or(0);
  const auto& plan = facts.plan->worker(local_rank);
  const std::string why =
      facts.exec_failure ? facts.exec_failure->text : "a worker could not be started";
  return {"ddprun: " + why + " (rank " + std::to_string(plan.rank) + and_host(facts) + ")"};
}

Lines stopped(const Outcome& outcome, const Facts& facts, const std::string& reason) {
  const Lines phrases = fates_of_stop(outcome, facts);
  const std::string head = "ddprun: " + reason + and_host(facts);
  // One line, however long: people grep for it in the logs of a cluster.
  Lines lines = phrases.empty() ? Lines{head} : join(head + ";", phrases, std::string::npos);
  for (const std::string& line : stacks(outcome, facts)) lines.push_back(line);
  for (const std::string& line : earlier_attempts(facts)) lines.push_back(line);
  return lines;
}

Lines left_alone(const Outcome& outcome, const Facts& facts) {
  Lines lines{"ddprun: " + still_running_at_limit(outcome, facts) + " " +
              limit_text(outcome.limit) +
              " after the first worker had ended with 0 (--exit-grace)" + and_host(facts)};
  lines.push_back("  before: " + early_leavers(outcome, facts));
  const Lines others = fates(outcome, facts);
  const Lines then = join("  then:", others, width_of(facts));
  if (!others.empty()) lines.insert(lines.end(), then.begin(), then.end());
  for (const std::string& line : stacks(outcome, facts)) lines.push_back(line);
  for (const std::string& line : earlier_attempts(facts)) lines.push_back(line);
  return lines;
}

// The same head on every node, whoever runs the worker that failed.
Lines remote_head(const RemoteCause& cause) {
  if (!cause.worker) return {"ddprun: " + printable(cause.text)};
  const RemoteCause::Worker& worker = *cause.worker;
  Lines lines{
      "ddprun: " + who_failed_first(worker.rank, worker.absent) + ": " + how(worker),
      "  host " + printable(worker.host) + ", local rank " + std::to_string(worker.local_rank)};
  for (const std::string& line : silent_too(worker.silent_too)) lines.push_back(line);
  return lines;
}

Lines ended_elsewhere(const Outcome& outcome, const Facts& facts, std::size_t rows_taken) {
  const RemoteCause cause = facts.remote.value_or(RemoteCause{.text = "ended by another node"});
  const std::size_t width = width_of(facts);
  Lines lines = remote_head(cause);
  Lines rest;
  const Lines others = fates(outcome, facts);
  if (!others.empty()) rest = join("  then on " + facts.host + ":", others, width);
  for (const std::string& line : earlier_attempts(facts)) rest.push_back(line);
  for (const std::string& line : stacks(outcome, facts)) rest.push_back(line);
  if (!facts.log_dir.empty())
    rest.push_back("  logs of " + facts.host + ": " + facts.log_dir + "/");
  if (cause.worker) {
    const std::size_t taken = rows(lines, width) + rows(rest, width) + rows_taken;
    const std::size_t room =
        std::clamp(kScreen - std::min(kScreen, taken), kLeastOutput, kMostOutput);
    const Lines output =
        last_output({.err = cause.lines, .out = {}, .error_file = {}}, room, width);
    lines.insert(lines.end(), output.begin(), output.end());
  }
  lines.insert(lines.end(), rest.begin(), rest.end());
  return lines;
}

Lines success(const Facts& facts) {
  const std::size_t restarts = facts.earlier_attempts.size();
  if (restarts == 0) return {};
  return {"ddprun: all workers ended with 0, after " + std::to_string(restarts) +
          (restarts == 1 ? " restart" : " restarts")};
}

Lines main_part(const Outcome& outcome, const Facts& facts, std::size_t rows_taken) {
  switch (outcome.cause) {
    case Cause::success:
      return success(facts);
    case Cause::worker_failed:
    case Cause::progress_timeout:
      return worker_failed(outcome, facts, rows_taken);
    case Cause::exec_failed:
      return exec_failed(outcome, facts);
    case Cause::stop_signal:
      return stopped(outcome, facts, "stopped by " + signal_name(outcome.stop_signal));
    case Cause::timeout:
      return stopped(outcome, facts, "stopped after " + limit_text(outcome.limit) + " (--timeout)");
    case Cause::exit_grace:
      return left_alone(outcome, facts);
    case Cause::guardian_lost:
      return stopped(outcome, facts, "its outer process was killed");
    case Cause::ended_elsewhere:
      return ended_elsewhere(outcome, facts, rows_taken);
  }
  return {};
}

bool killed_by_others(const WorkerEnd& worker) {
  return worker.status && worker.status->kind == supervise::WaitStatus::Kind::signaled &&
         worker.status->value == SIGKILL && worker.last_signal == 0;
}

}  // namespace

std::string how_failed(const Outcome& outcome, const Facts& facts) {
  const auto& worker = outcome.workers.at(static_cast<std::size_t>(outcome.first_failed.value()));
  if (facts.out_of_memory && killed_by_others(worker))
    return "SIGKILL (" + describe(*facts.out_of_memory) + ")";
  return failure(outcome.cause, worker.status, outcome.limit);
}

std::string how(const RemoteCause::Worker& worker) {
  return worker.how.empty() ? describe(worker.status) : printable(worker.how);
}

std::string what_failed(const Outcome& outcome, const Facts& facts) {
  const auto& worker = outcome.workers.at(static_cast<std::size_t>(outcome.first_failed.value()));
  std::string what = how_failed(outcome, facts);
  if (const auto failed = failed_at(outcome))
    what += " after " + duration(*failed - worker.started);
  return what;
}

std::string text(const Outcome& outcome, const Facts& facts) {
  const Lines last = leftovers(outcome, facts);
  Lines lines = main_part(outcome, facts, rows(last, width_of(facts)));
  lines.insert(lines.end(), last.begin(), last.end());
  std::string result;
  for (const std::string& line : lines) result += line + "\n";
  return result;
}

}  // namespace ddprun::report
