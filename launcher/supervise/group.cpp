#include "launcher/supervise/group.h"

#include <signal.h>

#include <algorithm>
#include <utility>

namespace ddprun::supervise {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// `timeout` and Slurm deliver one signal twice: to the process and to its group.
constexpr milliseconds kSameSignal{100};
constexpr milliseconds kGraceWithoutGuardian{500};
// A process in uninterruptible sleep survives SIGKILL for as long as its device wishes.
constexpr seconds kPatienceAfterKill{5};

std::string rank_text(int local_rank) {
  return "local rank " + std::to_string(local_rank);
}

bool has_ended(const WorkerEnd& worker) {
  return worker.status.has_value();
}
bool runs(const WorkerEnd& worker) {
  return worker.pid != 0 && !has_ended(worker);
}

}  // namespace

Group::Group(int workers, Options options, Time now)
    : options_(options), limits_(workers, options.limits) {
  outcome_.workers.resize(static_cast<std::size_t>(workers));
  for (int i = 0; i < workers; ++i) worker(i).local_rank = i;
  outcome_.started = outcome_.stopping_since = now;
}

Decision Group::on_started(Time now, int local_rank, pid_t pid) {
  worker(local_rank).pid = pid;
  worker(local_rank).started = now;
  worker(local_rank).ending = Ending::still_running;
  next_ = local_rank + 1;
  ++running_;
  return settle({});
}

Decision Group::on_exec_failed(Time now, int local_rank) {
  outcome_.first_failed = local_rank;
  worker(local_rank).ended = now;
  return stop(now, Cause::exec_failed, SIGTERM, options_.grace,
              rank_text(local_rank) + " could not be started");
}

Decision Group::on_ended(Time now, int local_rank, WaitStatus status) {
  WorkerEnd& ended = worker(local_rank);
  ended.ended = now;
  ended.status = status;
  --running_;
  limits_.on_ended(now, local_rank, status.success());
  if (outcome_.first_failed == local_rank)
    ended.ending = Ending::failed_first;  // it had fallen silent before
  else if (ended.last_signal != 0)
    ended.ending = Ending::stopped;
  else if (status.success())
    return on_exited_zero(ended);
  else if (phase_ != Phase::running)
    ended.ending = Ending::failed_after;
  else {
    ended.ending = Ending::failed_first;
    outcome_.first_failed = local_rank;
    return stop(now, Cause::worker_failed, SIGTERM, options_.grace,
                rank_text(local_rank) + " failed first");
  }
  return settle({});
}

Decision Group::on_exited_zero(WorkerEnd& ended) {
  ended.ending = Ending::exited_zero;
  Decision decision;
  if (phase_ == Phase::running && running_ > 0)
    decision.reason = rank_text(ended.local_rank) + " ended with 0, " + std::to_string(running_) +
                      (running_ == 1 ? " still runs" : " still run");
  return settle(std::move(decision));
}

Decision Group::on_stop_signal(Time now, int signo) {
  if (!first_stop_signal_) {
    first_stop_signal_ = now;
    if (phase_ != Phase::running) return settle({.reason = "told to stop, stopping already"});
    outcome_.stop_signal = signo;
    return stop(now, Cause::stop_signal, signo, options_.grace, "told to stop");
  }
  if (phase_ != Phase::stopping || now - *first_stop_signal_ <= kSameSignal) return settle({});
  return kill(now, "told to stop again");
}

Decision Group::on_ended_elsewhere(Time now, std::string why) {
  if (phase_ != Phase::running) return settle({});
  return stop(now, Cause::ended_elsewhere, SIGTERM, options_.grace, std::move(why));
}

Decision Group::on_guardian_lost(Time now) {
  if (phase_ == Phase::killing || phase_ == Phase::finished) return settle({});
  if (phase_ == Phase::running)
    return stop(now, Cause::guardian_lost, SIGTERM, kGraceWithoutGuardian, "the guardian is gone");
  const Time soon = now + kGraceWithoutGuardian;
  deadline_ = deadline_ ? std::min(*deadline_, soon) : soon;
  return settle({});
}

Decision Group::on_progress(Time now, int local_rank) {
  limits_.on_progress(now, local_rank);
  return settle({});
}

Decision Group::on_progress_closed(Time, int local_rank) {
  limits_.on_progress_closed(local_rank);
  return settle({});
}

Decision Group::on_resumed(Time now) {
  limits_.on_resumed(now);
  return settle({});
}

Decision Group::on_time(Time now) {
  if (phase_ == Phase::running) {
    const auto passed = limits_.passed(now);
    return passed ? stop_at_limit(now, *passed) : settle({});
  }
  // A timer that was already on its way says nothing when all is over.
  if (phase_ == Phase::finished || !deadline_ || now < *deadline_) return settle({});
  if (phase_ == Phase::stopping) return kill(now, "the grace time is over");
  // They did not even react to SIGKILL; waiting longer helps nobody.
  phase_ = Phase::finished;
  return {.finished = true, .reason = "a worker could not be killed"};
}

void Group::note_signalled(int local_rank, int signo) {
  worker(local_rank).last_signal = signo;
}

std::optional<int> Group::next_to_start() const {
  if (phase_ != Phase::running || next_ >= static_cast<int>(outcome_.workers.size())) return {};
  return next_;
}

std::vector<int> Group::running() const {
  std::vector<int> ranks;
  for (const WorkerEnd& one : outcome_.workers)
    if (runs(one)) ranks.push_back(one.local_rank);
  return ranks;
}

Decision Group::stop_at_limit(Time now, const Limits::Passed& passed) {
  outcome_.limit = passed.limit;
  outcome_.first_failed = passed.local_rank;
  outcome_.silent_too = passed.silent_too;
  std::string reason = passed.cause == Cause::timeout ? "the job's time is over"
                                                      : "others ended with 0 too long ago";
  if (passed.local_rank) reason = rank_text(*passed.local_rank) + " reports no progress any more";
  return stop(now, passed.cause, SIGTERM, options_.grace, std::move(reason));
}

Decision Group::stop(Time now, Cause cause, int signo, std::chrono::nanoseconds grace,
                     std::string reason) {
  outcome_.cause = cause;
  outcome_.stopping_since = now;
  if (grace <= grace.zero()) return kill(now, std::move(reason));
  phase_ = Phase::stopping;
  deadline_ = deadline(now, grace);
  Decision decision;
  decision.reason = std::move(reason);
  if (auto ranks = running(); !ranks.empty())
    decision.signal = SignalOrder{signo, std::move(ranks)};
  return settle(std::move(decision));
}

Decision Group::kill(Time now, std::string reason) {
  phase_ = Phase::killing;
  deadline_ = now + kPatienceAfterKill;
  Decision decision;
  decision.reason = std::move(reason);
  if (auto ranks = running(); !ranks.empty())
    decision.signal = SignalOrder{SIGKILL, std::move(ranks)};
  return settle(std::move(decision));
}

// Adds to a decision what holds in every state: the next deadline, and whether all is over.
Decision Group::settle(Decision decision) {
  decision.wake_at = phase_ == Phase::running ? limits_.next() : deadline_;
  if (everything_ended()) {
    phase_ = Phase::finished;
    decision.wake_at.reset();
    decision.finished = true;
  }
  return decision;
}

bool Group::everything_ended() const {
  if (next_to_start()) return false;
  return std::none_of(outcome_.workers.begin(), outcome_.workers.end(), runs);
}

}  // namespace ddprun::supervise
