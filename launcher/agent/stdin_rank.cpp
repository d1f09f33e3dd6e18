#include "launcher/agent/stdin_rank.h"

#include <signal.h>
#include <unistd.h>

#include <utility>

#include "launcher/process/wait.h"

namespace ddprun::agent {
namespace {

bool comes_from_the_keyboard(process::WaitStatus status) {
  return status.kind == process::WaitStatus::Kind::signaled &&
         (status.value == SIGINT || status.value == SIGQUIT || status.value == SIGHUP);
}

}  // namespace

StdinRank::StdinRank(const cli::JobSpec& job, const guardian::Link& link,
                     std::function<void(int)> stop)
    : job_(job), guardian_(link.guardian), stop_(std::move(stop)) {
  if (job.stdin_rank && ::tcgetpgrp(STDIN_FILENO) >= 0)
    terminal_.emplace(STDIN_FILENO, link.job_group);
}

void StdinRank::prepare(const plan::WorkerPlan& worker, process::SpawnRequest& request) const {
  if (worker.rank != job_.stdin_rank) return;
  request.in = STDIN_FILENO;
  if (!terminal_) return;
  request.terminal = &*terminal_;
  const cli::Streams filed = job_.redirects.of(worker.local_rank);
  const cli::Streams teed = job_.tee.of(worker.local_rank);
  if (!filed.out && !teed.out && ::isatty(STDOUT_FILENO) != 0) request.out = STDOUT_FILENO;
  if (!filed.err && !teed.err && ::isatty(STDERR_FILENO) != 0) request.err = STDERR_FILENO;
}

void StdinRank::on_started(const plan::WorkerPlan& worker, pid_t pid) {
  if (worker.rank != job_.stdin_rank || !terminal_) return;
  pid_ = pid;
  stopped_ = false;
}

bool StdinRank::on_ended(pid_t pid, process::WaitStatus status) {
  if (pid_ == 0 || pid != pid_) return false;
  give_terminal_back();
  pid_ = 0;
  if (!comes_from_the_keyboard(status)) return false;
  stop_(status.value);
  return true;
}

bool StdinRank::on_child_changed() {
  if (pid_ == 0) return false;
  const int signo = process::stop_signal_of(pid_);
  const bool known = std::exchange(stopped_, signo != 0);
  if (signo == 0 || known) return false;
  using process::StopReaction;
  switch (process::reaction_to_stop(signo, terminal_->foreground(), pid_, terminal_->job_group())) {
    case StopReaction::none:
      return false;
    case StopReaction::give_terminal:
      on_continued();
      ::kill(-pid_, SIGCONT);
      return false;
    case StopReaction::wait_for_terminal:
      ::kill(guardian_, SIGTTIN);
      return false;
    case StopReaction::stop_job:
      return true;
  }
  return false;
}

void StdinRank::give_terminal_back() const {
  if (terminal_) terminal_->take_back(pid_);
}

void StdinRank::on_continued() {
  stopped_ = false;
  if (pid_ != 0) terminal_->give_to(pid_);
}

}  // namespace ddprun::agent
