#include "launcher/agent/round.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

#include "launcher/process/children.h"
#include "launcher/process/signals.h"
#include "launcher/report/blame.h"
#include "launcher/report/error_file.h"
#include "rendezvous/base/command_of.h"
#include "rendezvous/base/read_file.h"

namespace ddprun::agent {
namespace {

constexpr std::chrono::milliseconds kOutputPatience{100};
constexpr std::chrono::milliseconds kStacksLimit{5000};
constexpr std::chrono::milliseconds kLeastStacksTime{500};

supervise::Time now() {
  return std::chrono::steady_clock::now();
}

supervise::Options options_of(const Job& job) {
  return {.grace = job.spec.shutdown_timeout,
          .limits = {.job_started = job.link.started,
                     .timeout = job.spec.timeout,
                     .exit_grace = job.spec.exit_grace,
                     .progress_timeout = job.spec.progress_timeout}};
}

int worker_count(const JobParts& parts) {
  return static_cast<int>(parts.job.plan.workers.size());
}

bool contains(const std::vector<int>& ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

std::vector<int> intersection(std::vector<int> ranks, const std::vector<int>& others) {
  std::erase_if(ranks, [&](int rank) { return !contains(others, rank); });
  return ranks;
}

std::string search_path(const Job& job) {
  return std::string(job.environment.get("PATH").value_or(process::kDefaultPath));
}

// DDPRUN_CGROUP_ROOT stands in for the real one, so that every case can be tested.
std::string cgroup_root(const Job& job) {
  return std::string(job.environment.get("DDPRUN_CGROUP_ROOT").value_or("/sys/fs/cgroup"));
}

}  // namespace

Round::Round(const JobParts& parts, const plan::Meeting& meeting)
    : parts_(parts),
      attempt_(meeting.round),
      starter_(parts, meeting),
      workers_(parts.io, worker_count(parts),
               [this](int local_rank, process::WaitStatus status) {
                 // A key of the terminal told it to end, and means the whole job, unless its
                 // signal is not to stop jobs: then the worker has failed.
                 if (parts_.stdin_rank.on_ended(workers_.pid(local_rank), status) &&
                     outcome().cause != supervise::Cause::success)
                   group_.note_signalled(local_rank, status.value);
                 on_worker_ended(local_rank, status);
                 look_for_orphans_soon();
               }),
      group_(worker_count(parts), options_of(parts.job), now()),
      stack_taker_(parts.io, parts.spawn, search_path(parts.job)),
      asked_stacks_(parts.io, parts.spawn, search_path(parts.job)),
      error_files_(parts.job.plan.workers.size()),
      oom_(cgroup_root(parts.job), read_file("/proc/self/cgroup").value_or("")),
      sweep_(parts.io, parts.output),
      stop_notice_(parts.io),
      timer_(parts.io) {
  if (!parts.job.spec.progress_timeout) return;
  progress_.emplace(
      parts.io, worker_count(parts), [this](int local_rank, ProgressPipes::Report report) {
        obey(report == ProgressPipes::Report::closed ? group_.on_progress_closed(now(), local_rank)
                                                     : group_.on_progress(now(), local_rank));
      });
}

// An out-of-memory kill counts only if it happened before the first failure, not while the others
// are being stopped.
void Round::on_worker_ended(int local_rank, process::WaitStatus status) {
  const bool killed = status.kind == process::WaitStatus::Kind::signaled && status.value == SIGKILL;
  if (killed && !group_.outcome().first_failed) out_of_memory_ = oom_.risen();
  // Nobody writes it any more, unless a later round does.
  if (status.kind != process::WaitStatus::Kind::exited || status.value != 0)
    error_files_.at(static_cast<std::size_t>(local_rank)) = read_error_of(local_rank);
  const auto decision = group_.on_ended(now(), local_rank, status);
  parts_.events.worker_ended(attempt_, worker(local_rank));
  obey(decision);
}

void Round::start(std::function<void()> ended, std::function<void()> changed) {
  ended_ = std::move(ended);
  changed_ = std::move(changed);
  start_next();
}

// One worker for each turn of the event loop, so that a failure or a signal is seen between two of
// them.
void Round::start_next() {
  const auto local_rank = group_.next_to_start();
  if (!local_rank) return;
  const auto pid = start_worker(*local_rank);
  if (!pid) {
    exec_failure_ = starter_.explain(pid.error());
    return obey(group_.on_exec_failed(now(), *local_rank));
  }
  const auto decision = group_.on_started(now(), *local_rank, *pid);
  parts_.events.worker_started(attempt_, worker(*local_rank));
  obey(decision);
  boost::asio::post(parts_.io, [this] { start_next(); });
}

boost::system::result<pid_t, StartFailure> Round::start_worker(int local_rank) {
  if (!progress_) return starter_.start(workers_, local_rank, {});
  auto end = progress_->open(local_rank);
  if (!end) return StartFailure{{}, errno, end.error().text};
  return starter_.start(workers_, local_rank, std::move(*end));
}

void Round::obey(const supervise::Decision& decision) {
  if (parts_.job.spec.verbosity == cli::Verbosity::verbose && !decision.reason.empty())
    parts_.output.note("ddprun: " + decision.reason);
  parts_.events.first_failure(attempt_, group_.outcome());
  parts_.events.stopping(attempt_, decision);
  if (changed_) changed_();
  const std::vector<int> hung = whose_stacks(decision);
  if (!hung.empty())
    take_stacks(hung, *decision.signal);
  else if (decision.signal)
    carry_out(*decision.signal);
  if (stage_ != Stage::running) return;
  if (decision.finished)
    sweep();
  else
    arm(decision);
}

std::vector<int> Round::local_ranks_of(const std::vector<int>& ranks) const {
  std::vector<int> local_ranks;
  for (const plan::WorkerPlan& each : parts_.job.plan.workers)
    if (contains(ranks, each.rank)) local_ranks.push_back(each.local_rank);
  return local_ranks;
}

// Of a group that hangs, or that one rank gave up on, it matters where the others are; once they
// are told to stop nobody can know any more.
std::vector<int> Round::whose_stacks(const supervise::Decision& decision) const {
  if (!decision.signal || !stacks_.empty() || parts_.directory.path().empty()) return {};
  const std::vector<int>& all = decision.signal->local_ranks;
  switch (group_.outcome().cause) {
    case supervise::Cause::timeout:
    case supervise::Cause::exit_grace:
    case supervise::Cause::progress_timeout:
      return all;
    case supervise::Cause::worker_failed: {
      const auto& status = worker(group_.outcome().first_failed.value()).status;
      const bool aborted =
          status && status->kind == process::WaitStatus::Kind::signaled && status->value == SIGABRT;
      return aborted ? all : intersection(local_ranks_of(absent()), all);
    }
    default:
      return {};
  }
}

report::ErrorFile Round::read_error_of(int local_rank) const {
  const int rank = parts_.job.plan.rank_of(local_rank);
  return report::parse_error_file(read_error_file(parts_.directory.error_file(attempt_, rank)));
}

std::vector<int> Round::absent() const {
  if (group_.outcome().cause != supervise::Cause::worker_failed) return {};
  const auto& plan = parts_.job.plan;
  const int first = *group_.outcome().first_failed;
  const int failed = plan.rank_of(first);
  std::vector<report::Wait> waits{{failed, error_file(first).waited_for}};
  for (const int local_rank : local_ranks_of(waits[0].waited_for)) {
    if (local_rank == first) continue;
    const bool ended = worker(local_rank).ended.has_value();
    const report::ErrorFile file = ended ? error_file(local_rank) : read_error_of(local_rank);
    waits.push_back({plan.rank_of(local_rank), file.waited_for});
  }
  return report::absent_ranks(failed, waits, plan.world_size);
}

void Round::take_stacks(const std::vector<int>& local_ranks, const supervise::SignalOrder& order) {
  std::vector<stacks::Target> targets;
  stacks_.resize(parts_.job.plan.workers.size());
  for (int local_rank : local_ranks) {
    if (targets.size() == stacks::kMostProcesses) break;
    const auto index = static_cast<std::size_t>(local_rank);
    const int rank = parts_.job.plan.workers.at(index).rank;
    stacks_[index] = parts_.directory.worker_path(attempt_, rank) + "/stacks.txt";
    const pid_t pid = workers_.pid(local_rank);
    targets.push_back({pid,
                       "rank " + std::to_string(rank) + ", pid " + std::to_string(pid) +
                           ", before ddprun stopped it:",
                       stacks_[index]});
  }
  // The stop ladder's deadline is running already, so the workers keep most of their grace.
  const auto limit = std::min<std::chrono::milliseconds>(
      kStacksLimit, parts_.job.spec.shutdown_timeout / 2 + kLeastStacksTime);
  stack_taker_.take(std::move(targets), limit, [this, order] {
    if (!hurried_) carry_out(order);
  });
}

void Round::take_stacks(const std::string& name, AskedStacks::Done done) {
  const std::string folder = parts_.directory.path() + "/" + name;
  std::vector<stacks::Target> targets;
  std::vector<int> ranks;
  if (stage_ == Stage::running)
    for (int local_rank : group_.running()) {
      ranks.push_back(parts_.job.plan.rank_of(local_rank));
      const pid_t pid = workers_.pid(local_rank);
      targets.push_back(
          {pid, "rank " + std::to_string(ranks.back()) + ", pid " + std::to_string(pid) + ":",
           rank_files(folder, {ranks.back()})});
    }
  // Whoever asks wants to read them, however the job ends.
  if (!targets.empty()) parts_.directory.keep();
  asked_stacks_.take(folder, std::move(targets),
                     [folder, ranks, done = std::move(done)](Result<std::string> written) {
                       if (!written) return done(written);
                       done({boost::system::in_place_value, rank_files(folder, ranks)});
                     });
}

void Round::carry_out(const supervise::SignalOrder& order) {
  for (int local_rank : order.local_ranks)
    if (workers_.signal(local_rank, order.signo)) group_.note_signalled(local_rank, order.signo);
  if (order.signo == SIGKILL)
    hurried_ = true;
  else if (parts_.job.spec.verbosity != cli::Verbosity::quiet)
    stop_notice_.begin([this, signo = order.signo] {
      parts_.output.note(waiting_text(group_.outcome(), parts_.job.plan, absent(), group_.running(),
                                      signo, parts_.job.spec.shutdown_timeout));
    });
}

// A timer that is armed already may come too early, for the group says then when it is to come
// again.
void Round::arm(const supervise::Decision& decision) {
  if (!decision.wake_at || (armed_ && *armed_ <= *decision.wake_at)) return;
  armed_ = decision.wake_at;
  timer_.expires_at(*decision.wake_at);
  timer_.async_wait([this](boost::system::error_code canceled) {
    if (canceled) return;
    armed_.reset();
    obey(group_.on_time(now()));
  });
}

void Round::on_stop_signal(int signo) {
  if (stage_ == Stage::running) return obey(group_.on_stop_signal(now(), signo));
  // The workers are gone; whoever asks now does not want to wait for what they have left.
  hurry();
}

void Round::on_ended_elsewhere(const std::string& why) {
  if (stage_ == Stage::running) obey(group_.on_ended_elsewhere(now(), why));
}

void Round::on_guardian_lost() {
  hurry();
  if (stage_ == Stage::running) obey(group_.on_guardian_lost(now()));
}

void Round::hurry() {
  hurried_ = true;
  sweep_.hurry();
}

void Round::on_child_ended() {
  const auto running = running_pids();
  reap_orphans([&running](pid_t pid) {
    return std::find(running.begin(), running.end(), pid) != running.end();
  });
  sweep_.on_child_ended();
}

// Orphans that ended behind a worker could not be seen before it was reaped. One look for all
// workers whose ends are handled in this turn of the event loop: a look takes a time that grows
// with their number.
void Round::look_for_orphans_soon() {
  if (stage_ != Stage::running || std::exchange(looks_soon_, true)) return;
  boost::asio::post(parts_.io, [this, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.expired()) return;
    looks_soon_ = false;
    if (stage_ == Stage::running) on_child_ended();
  });
}

void Round::pass_user_signal(int signo) {
  if (process::signal_catchers(running_pids(), signo) == 0)
    parts_.output.note("ddprun: " + report::signal_name(signo) +
                       " was not passed on: no worker has a handler for it");
}

void Round::signal_groups(int signo) {
  for (int local_rank : group_.running()) workers_.signal_group(local_rank, signo);
}

void Round::stop_workers() {
  signal_groups(SIGSTOP);
  // The job of a ddprun that is a worker is in other groups.
  const auto stopped = process::stop_descendants();
  stopped_.insert(stopped_.end(), stopped.begin(), stopped.end());
}

void Round::continue_workers() {
  process::continue_descendants(stopped_);
  stopped_.clear();
  signal_groups(SIGCONT);
}

void Round::on_resumed() {
  obey(group_.on_resumed(now()));
}

void Round::sweep() {
  stage_ = Stage::sweeping;
  stack_taker_.cancel();
  asked_stacks_.cancel();
  stop_notice_.cancel();
  timer_.cancel();
  on_child_ended();
  if (parts_.job.spec.keep_descendants) {
    name_descendants();
    return drain();
  }
  sweep_.start(running_pids(), hurried_, [this](std::vector<supervise::Leftover> leftovers) {
    group_.note_leftovers(std::move(leftovers));
    drain();
  });
}

void Round::name_descendants() {
  if (parts_.job.spec.verbosity != cli::Verbosity::verbose) return;
  for (pid_t pid : process::descendants_of(::getpid()))
    if (process::is_alive(pid))
      parts_.output.note("ddprun: keeping process " + std::to_string(pid) + " (" + command_of(pid) +
                         "), which workers have left");
}

void Round::drain() {
  stage_ = Stage::draining;
  timer_.expires_after(kOutputPatience);
  timer_.async_wait([this](boost::system::error_code canceled) {
    if (!canceled) finish();
  });
  // Output keeps this for as long as a stranger holds a stream open, perhaps beyond this round.
  parts_.output.when_drained([this, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) finish();
  });
}

void Round::finish() {
  if (stage_ == Stage::ended) return;
  stage_ = Stage::ended;
  timer_.cancel();
  ended_();
}

std::vector<pid_t> Round::running_pids() const {
  std::vector<pid_t> pids;
  for (int local_rank : group_.running()) pids.push_back(workers_.pid(local_rank));
  return pids;
}

}  // namespace ddprun::agent
