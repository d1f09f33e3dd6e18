// The part of NodeAgent for a job on several nodes: its rounds begin and end when the roster says.
#include <signal.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "launcher/agent/conclusion.h"
#include "launcher/agent/node_agent.h"
#include "launcher/agent/results.h"
#include "launcher/agent/verdicts.h"
#include "launcher/plan/wording.h"
#include "launcher/plan/world.h"
#include "launcher/process/exit_codes.h"
#include "launcher/report/attempts.h"
#include "launcher/report/names.h"
#include "launcher/report/report.h"
#include "rendezvous/base/first_line.h"

namespace ddprun::agent {
namespace {

// What the others get of the failed worker's output.
constexpr std::size_t kLinesForOthers = 20;
constexpr std::chrono::milliseconds kStoreWithoutGuardian{500};
constexpr std::chrono::milliseconds kStoreAfterLoss{2000};
constexpr std::chrono::milliseconds kStoreAfterGrace{2000};
// Where all are started together, the end of the job says it.
constexpr std::chrono::seconds kUnableSilence{1};
constexpr std::chrono::seconds kLocalAddrPatience{2};

std::vector<std::string> last_of(std::vector<std::string> lines) {
  if (lines.size() > kLinesForOthers)
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kLinesForOthers));
  return lines;
}

const supervise::WorkerEnd& first_failed(const supervise::Outcome& outcome) {
  return outcome.workers.at(static_cast<std::size_t>(outcome.first_failed.value()));
}

std::string limit_reason(const supervise::Outcome& outcome) {
  const bool grace = outcome.cause == supervise::Cause::exit_grace;
  return "stopped after " + report::limit_text(outcome.limit) +
         (grace ? " (--exit-grace)" : " (--timeout)");
}

}  // namespace

void NodeAgent::join() {
  watch_signals();
  membership_ = std::make_unique<Membership>(io_, job_, output_, membership_hooks());
  announce_notices();
  on_timeout_between_rounds();
  check_local_addr();
}

// A name that this node has of itself and that nobody knows leads no worker anywhere. A resolver
// that is slow is not waited for.
void NodeAgent::check_local_addr() {
  const auto& given = job_.spec.rendezvous.local_addr;
  if (!given || job_.unable) return join_others();
  local_addr_limit_.expires_after(kLocalAddrPatience);
  local_addr_limit_.async_wait([this](boost::system::error_code canceled) {
    if (canceled || !local_addr_) return;
    local_addr_.reset();
    join_others();
  });
  local_addr_.emplace(io_, given->value, [this](const Result<client::Addresses>& found) {
    local_addr_limit_.cancel();
    if (!found && client::is_no_such_name(found.error()))
      job_.unable = {process::kExitRefused, job_.spec.rendezvous.local_addr->source + ": '" +
                                                job_.spec.rendezvous.local_addr->value +
                                                "' cannot be looked up: " + found.error().text +
                                                "; give an address of this host, or leave it out"};
    boost::asio::post(io_, [this] {
      if (!local_addr_) return;
      local_addr_.reset();
      join_others();
    });
  });
}

void NodeAgent::join_others() {
  const bool needed = job_.spec.rendezvous.min_nodes == job_.spec.rendezvous.max_nodes;
  // Those that can do with fewer are not to be disturbed.
  if (job_.unable && !needed) return leave(job_.unable->text);
  if (job_.unable) say_unable_soon();
  membership_->join();
}

MembershipHooks NodeAgent::membership_hooks() {
  MembershipHooks hooks;
  hooks.begin_round = [this](const auto& round) { begin_assigned_round(round); };
  hooks.note_attempt = [this](const auto& order) { attempts_.push_back(attempt_of(order)); };
  hooks.stop_round = [this](const std::string& why) {
    if (at_work_) round_->on_ended_elsewhere(why);
  };
  // A spare that could take nobody's place would end the job when it has to.
  hooks.become_spare = [this] {
    if (job_.unable) leave(first_line(job_.unable->text));
  };
  hooks.take_stacks = [this](std::uint64_t id, AskedStacks::Done done) {
    take_stacks(id, std::move(done));
  };
  hooks.end = [this](const membership::Verdict& verdict) { on_verdict(verdict); };
  hooks.say = [this](const std::string& line) {
    if (job_.spec.verbosity != cli::Verbosity::quiet) output_.note("ddprun: " + line);
  };
  return hooks;
}

// --timeout counts from ddprun's start; while a round runs its own supervision sees to it.
void NodeAgent::on_timeout_between_rounds() {
  const auto limit = supervise::deadline(job_.link.started, job_.spec.timeout);
  if (!limit) return;
  pause_.expires_at(*limit);
  pause_.async_wait([this](boost::system::error_code canceled) {
    if (!canceled && !at_work_) leave_if_out_of_time();
  });
}

void NodeAgent::leave_if_out_of_time() {
  if (interruption_) return;
  check_timeout();
  if (interruption_)
    leave("stopped after " + report::limit_text(interruption_->limit) + " (--timeout)",
          process::kExitTimedOut);
}

// Given nodes stay what they are; else the next round may have the rank that is wrong now.
void NodeAgent::take_place(const protocol::NodePlace& place) {
  plan::take_place(job_.spec,
                   {.node_rank = place.node_rank,
                    .first_rank = place.first_rank,
                    .number_of_nodes = place.nodes,
                    .world_size = place.world_size},
                   job_.plan);
  const std::string wrong = plan::wrong_rank(job_.spec, job_.plan.world_size);
  if (wrong.empty()) return;
  if (job_.spec.rendezvous.kind == cli::RendezvousSpec::Kind::fixed)
    job_.unable = {process::kExitRefused, wrong};
  else if (job_.spec.verbosity != cli::Verbosity::quiet)
    output_.note("ddprun: " + wrong);
}

void NodeAgent::begin_assigned_round(const membership::BeginRound& round) {
  if (!job_.unable) take_place(round.place);
  if (job_.unable) {  // now all are here to hear of it
    leave(first_line(job_.unable->text), job_.unable->code);
    return membership_->on_round_ended(false);  // no worker was started
  }
  if (!parts_) {
    job_.timings.store_listening = std::chrono::steady_clock::now();
    if (auto made = make_parts(membership_->run_directory()); !made) {
      leave(made.error().text);
      return membership_->on_round_ended(false);  // no worker was started
    }
  } else {
    if (job_.spec.verbosity != cli::Verbosity::quiet) output_.note(job_.plan.start_line);
    events_.restart(round.assignment.round, round.assignment.why);
  }
  // What the old round has waited for may already be queued, and looks at it once more.
  if (round_) boost::asio::post(io_, [old = std::move(round_)] {});
  told_started_ = told_failed_ = false;
  at_work_ = true;
  round_ =
      std::make_unique<Round>(*parts_, plan::Meeting{.master_addr = round.assignment.store_host,
                                                     .master_port = round.assignment.store_port,
                                                     .run_id = run_id_,
                                                     .restart_count = round.assignment.restarts,
                                                     .round = round.assignment.round});
  round_->start([this] { on_assigned_round_ended(); }, [this] { on_round_changed(); });
}

void NodeAgent::on_round_changed() {
  using supervise::Cause;
  const supervise::Outcome& outcome = round_->outcome();
  if (outcome.first_failed && !std::exchange(told_failed_, true)) return tell_failed();
  if (!told_failed_ && round_->complete() && !std::exchange(told_started_, true)) tell_started();
  if (outcome.cause == Cause::timeout || outcome.cause == Cause::exit_grace)
    leave(limit_reason(outcome), process::kExitTimedOut);
}

void NodeAgent::take_stacks(std::uint64_t id, AskedStacks::Done done) {
  if (directory_->path().empty())
    return boost::asio::post(io_, [done = std::move(done)] {
      done(Error{"this node keeps no files (--log-dir /dev/null)"});
    });
  round_->take_stacks("stacks_" + std::to_string(id), std::move(done));
}

void NodeAgent::tell_started() {
  protocol::Started started{.round = round_->attempt()};
  for (const supervise::WorkerEnd& worker : round_->outcome().workers) {
    const auto& plan = job_.plan.worker(worker.local_rank);
    started.workers.push_back(
        {.pid = worker.pid, .device = plan.gpu ? plan::gpu_text(*plan.gpu) : "CPU"});
  }
  membership_->on_started(std::move(started));
}

void NodeAgent::tell_failed() {
  const supervise::Outcome& outcome = round_->outcome();
  const supervise::WorkerEnd& worker = first_failed(outcome);
  const auto& plan = job_.plan.worker(worker.local_rank);
  protocol::Failed failed{
      .round = round_->attempt(), .rank = plan.rank, .local_rank = worker.local_rank};
  if (worker.status && worker.status->kind == supervise::WaitStatus::Kind::signaled)
    failed.signal = worker.status->value;
  else if (outcome.cause == supervise::Cause::exec_failed)
    failed.code = round_->exec_failure() ? round_->exec_failure()->code : process::kExitCannotWork;
  else
    failed.code = worker.status ? worker.status->value : process::kExitTimedOut;
  if (outcome.cause != supervise::Cause::exec_failed)
    failed.how = report::how_failed(outcome, {.out_of_memory = round_->out_of_memory()});
  failed.absent = round_->absent();
  failed.silent_too = job_.plan.ranks_of(outcome.silent_too);
  if (const auto& why = round_->exec_failure()) {
    // Starting again would not help.
    failed.exit_code = failed.code;
    failed.lines = {why->text};
  }
  if (worker.pid != 0) {
    output_.catch_up(worker.local_rank);
    failed.lines = last_of(output_.tail_stderr(worker.local_rank));
    if (failed.lines.empty()) failed.lines = last_of(output_.tail_stdout(worker.local_rank));
  }
  if (worker.ended) failed.age = std::chrono::steady_clock::now() - *worker.ended;
  membership_->on_worker_failed(std::move(failed));
}

void NodeAgent::on_assigned_round_ended() {
  at_work_ = false;
  const supervise::Outcome& outcome = round_->outcome();
  leave_if_out_of_time();
  for (const supervise::WorkerEnd& worker : outcome.workers)
    if (worker.ending == supervise::Ending::still_running) leave("a worker could not be killed");
  membership_->on_round_ended(outcome.cause == supervise::Cause::success);
}

void NodeAgent::leave(const std::string& why, std::optional<int> exit_code) {
  membership_->leave(why, exit_code);
}

void NodeAgent::on_verdict(const membership::Verdict& verdict) {
  pause_.cancel();
  unable_notice_.cancel();
  local_addr_limit_.cancel();
  local_addr_.reset();
  stdin_rank_.give_terminal_back();
  output_.stop_reading();
  if (round_)
    decision_ = conclude(*parts_, *round_, outcome_of(verdict), attempts_, remote_);
  else
    end_without_round(verdict);
  membership_->finish(store_patience(verdict), [this] { flush(); });
}

// How long the workers of other nodes may still need the store that this node hosts. Those of a
// node that is lost may be there for ever.
std::chrono::nanoseconds NodeAgent::store_patience(const membership::Verdict& verdict) const {
  if (verdict.kind == membership::Verdict::Kind::success || !round_) return {};
  if (interruption_ && interruption_->cause == supervise::Cause::guardian_lost)
    return kStoreWithoutGuardian;
  const bool lost = verdict.cause && verdict.cause->kind == protocol::Cause::Kind::node_lost;
  return lost ? kStoreAfterLoss : job_.spec.shutdown_timeout + kStoreAfterGrace;
}

// The last round's outcome in the light of what has ended the job.
supervise::Outcome NodeAgent::outcome_of(const membership::Verdict& verdict) {
  using Kind = membership::Verdict::Kind;
  supervise::Outcome outcome = round_->outcome();
  if (verdict.kind == Kind::success) {
    outcome.cause = supervise::Cause::success;
    outcome.first_failed.reset();
    return outcome;
  }
  // A signal to all nodes reaches one of them first.
  const bool stopped_alike = verdict.host_stopped && interruption_ &&
                             interruption_->cause == supervise::Cause::stop_signal;
  if (verdict.kind == Kind::local || stopped_alike) {
    const bool known = outcome.cause == supervise::Cause::timeout ||
                       outcome.cause == supervise::Cause::exit_grace || !interruption_;
    return known ? outcome : supervise::interrupted(outcome, *interruption_);
  }
  const bool ours =
      outcome.first_failed && names_rank(verdict, job_.plan.rank_of(*outcome.first_failed));
  if (ours) return outcome;
  remote_ = remote_cause(verdict);
  return supervise::interrupted(outcome, {.cause = supervise::Cause::ended_elsewhere});
}

void NodeAgent::end_without_round(const membership::Verdict& verdict) {
  using Kind = membership::Verdict::Kind;
  if (verdict.kind == Kind::success) {
    end_as_spare(verdict.text);
  } else if (verdict.kind == Kind::local && interruption_) {
    supervise::Outcome none;
    none.cause = interruption_->cause;
    none.stop_signal = interruption_->stop_signal;
    decision_ = tell_refusal(report::exit_decision(none), report::name_of(none.cause),
                             verdict.text + " before its workers were started", false);
  } else if (job_.unable) {
    end_unable(verdict);
  } else {
    const int code = verdict.kind == Kind::local ? process::kExitCannotWork : verdict.exit_code;
    decision_ = tell_refusal({code}, code == process::kExitRefused ? "refused" : "cannot_work",
                             verdict.text, verdict.kind == Kind::local);
  }
}

void NodeAgent::end_as_spare(const std::string& why) {
  const std::string text = why + "; this node was a spare and started no worker";
  if (job_.spec.verbosity != cli::Verbosity::quiet) output_.note("ddprun: " + text);
  decision_ = {};
  report_without_round(decision_, report::name_of(supervise::Cause::success), text);
}

void NodeAgent::say_unable_soon() {
  if (job_.spec.verbosity == cli::Verbosity::quiet) return;
  unable_notice_.expires_after(kUnableSilence);
  unable_notice_.async_wait([this](boost::system::error_code canceled) {
    if (!canceled)
      output_.note("ddprun: " + first_line(job_.unable->text) +
                   "; the other nodes are told as soon as all are here, and all end");
  });
}

// What has ended the job is the same on all nodes, unless they could not hear of this one.
void NodeAgent::end_unable(const membership::Verdict& verdict) {
  using Kind = membership::Verdict::Kind;
  const bool gave_up = verdict.kind == Kind::lost ||
                       (verdict.cause && verdict.cause->kind == protocol::Cause::Kind::timed_out);
  const bool elsewhere = verdict.kind == Kind::cause && !gave_up;
  const int code = elsewhere ? verdict.exit_code : job_.unable->code;
  std::string text = elsewhere ? verdict.text : job_.unable->text;
  if (gave_up) text += "; the others could not be told: " + verdict.text;
  decision_ = tell_refusal({code}, cause_without_workers(code), text, !elsewhere);
}

}  // namespace ddprun::agent
