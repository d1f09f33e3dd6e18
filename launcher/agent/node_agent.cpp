#include "launcher/agent/node_agent.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <utility>

#include "launcher/process/children.h"
#include "launcher/process/exit_codes.h"
#include "launcher/process/signals.h"

namespace ddprun::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kDyingTime{20};
constexpr seconds kDescendantsGrace{2};
constexpr milliseconds kOutputPatience{100};
constexpr milliseconds kPatienceWhenStopped{1000};
constexpr int kKillPatienceMs = 5000;

supervise::Time now() {
  return std::chrono::steady_clock::now();
}

std::string advice_on_descriptors() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return "; ddprun may open " + std::to_string(limit.rlim_max) +
         " descriptors and needs 3 for each worker, so raise the limit (ulimit -Hn)";
}

supervise::Options options_of(const cli::JobSpec& spec) {
  return {.grace = spec.shutdown_timeout};
}

}  // namespace

NodeAgent::NodeAgent(boost::asio::io_context& io, Job& job, const Round& round)
    : io_(io),
      job_(job),
      round_(round),
      workers_(io, static_cast<int>(job.plan.workers.size()),
               [this](int local_rank, process::WaitStatus status) {
                 obey(group_.on_ended(now(), local_rank, status));
                 // Orphans that ended behind this worker could not be seen before it was reaped.
                 if (stage_ == Stage::running) on_child_ended();
               }),
      group_(static_cast<int>(job.plan.workers.size()), options_of(job.spec), now()),
      signals_(io, guardian::handled_signals(), [this](int signo) { on_signal(signo); }),
      guardian_(io, job.link.alive.release()),
      timer_(io),
      program_(process::find_program(job.plan.workers.front().argv.front(),
                                     job.environment.get("PATH").value_or(process::kDefaultPath))),
      environment_(job.plan, round.meeting, job.environment),
      null_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {}

void NodeAgent::start(std::function<void()> ended) {
  ended_ = std::move(ended);
  watch_guardian();
  guardian::outlive_guardian();
  start_next();
}

// One worker for each turn of the event loop, so that a failure or a signal is seen between two of
// them.
void NodeAgent::start_next() {
  const auto local_rank = group_.next_to_start();
  if (!local_rank) return;
  const auto pid = start_worker(*local_rank);
  if (!pid) {
    exec_failure_ = explain(pid.error());
    return obey(group_.on_exec_failed(now(), *local_rank, pid.error().error));
  }
  obey(group_.on_started(now(), *local_rank, *pid));
  boost::asio::post(io_, [this] { start_next(); });
}

boost::system::result<pid_t, NodeAgent::StartFailure> NodeAgent::start_worker(int local_rank) {
  if (program_.error != 0) return StartFailure{process::SpawnStep::exec, program_.error, {}};
  const plan::WorkerPlan& worker = job_.plan.workers.at(static_cast<std::size_t>(local_rank));
  auto streams = round_.output->open(worker.rank, local_rank);
  if (!streams) return StartFailure{{}, errno, streams.error().text};
  const int attempt = round_.meeting.restart_count;
  if (const auto made = round_.directory->make_worker_directory(attempt, worker.rank); !made)
    return StartFailure{{}, errno, made.error().text};
  const process::SpawnRequest request{
      .path = program_.path,
      .argv = worker.argv,
      .env = environment_.own(worker, round_.directory->error_file(attempt, worker.rank)),
      .shared_env = &environment_.shared(),
      .in = null_.get(),
      .out = streams->out.get(),
      .err = streams->err.get()};
  const auto pid = workers_.start(local_rank, request, round_.settings);
  if (!pid) return StartFailure{pid.error().step, pid.error().error, {}};
  return *pid;
}

report::ExecFailure NodeAgent::explain(const StartFailure& failure) const {
  const std::string& name = job_.plan.workers.front().argv.front();
  if (failure.step == process::SpawnStep::exec)
    return report::explain_exec_failure(name, failure.error,
                                        report::look_at_program(name, program_.path));
  std::string text = "cannot start a worker: ";
  text += failure.step
              ? std::string(process::call_of(*failure.step)) + ": " + ::strerror(failure.error)
              : failure.text;
  if (failure.error == EMFILE || failure.error == ENFILE) text += advice_on_descriptors();
  return {process::kExitCannotWork, text};
}

void NodeAgent::obey(const supervise::Decision& decision) {
  if (job_.spec.verbosity == cli::Verbosity::verbose && !decision.reason.empty())
    say("ddprun: " + decision.reason);
  if (decision.signal)
    for (int local_rank : decision.signal->local_ranks)
      if (workers_.signal(local_rank, decision.signal->signo))
        group_.note_signalled(local_rank, decision.signal->signo);
  if (decision.signal && decision.signal->signo == SIGKILL) hurried_ = true;
  if (stage_ != Stage::running) return;
  if (decision.finished)
    sweep();
  else
    arm(decision);
}

void NodeAgent::arm(const supervise::Decision& decision) {
  if (!decision.wake_at || decision.wake_at == armed_) return;
  armed_ = decision.wake_at;
  timer_.expires_at(*decision.wake_at);
  timer_.async_wait([this](boost::system::error_code canceled) {
    if (!canceled) obey(group_.on_time(now()));
  });
}

void NodeAgent::on_signal(int signo) {
  switch (signo) {
    case SIGCHLD:
      return on_child_ended();
    case SIGUSR1:
    case SIGUSR2:
      return pass_user_signal(signo);
    case SIGTSTP:
      return suspend();
    case SIGCONT:
      for (int local_rank : group_.running()) workers_.signal_group(local_rank, SIGCONT);
      return;
    default:
      break;
  }
  round_.output->hurry(kPatienceWhenStopped);
  if (stage_ == Stage::running) return obey(group_.on_stop_signal(now(), signo));
  // The workers are gone; whoever asks now does not want to wait for what they have left.
  hurried_ = true;
  if (stage_ == Stage::sweeping) sweep_again();
}

void NodeAgent::on_child_ended() {
  reap_orphans([this](pid_t pid) {
    for (int local_rank : group_.running())
      if (workers_.pid(local_rank) == pid) return true;
    return false;
  });
  if (stage_ == Stage::sweeping && process::ended_child() < 0) drain();
}

void NodeAgent::pass_user_signal(int signo) {
  std::vector<pid_t> leaders;
  for (int local_rank : group_.running()) leaders.push_back(workers_.pid(local_rank));
  if (process::signal_catchers(leaders, signo) == 0)
    say("ddprun: " + report::signal_name(signo) +
        " was not passed on: no worker has a handler for it");
}

// The guardian sees that this process has stopped and stops as well; SIGCONT comes back through it.
void NodeAgent::suspend() {
  for (int local_rank : group_.running()) workers_.signal_group(local_rank, SIGSTOP);
  ::raise(SIGSTOP);
}

void NodeAgent::watch_guardian() {
  using Descriptor = boost::asio::posix::stream_descriptor;
  guardian_.async_wait(Descriptor::wait_read, [this](boost::system::error_code canceled) {
    if (canceled) return;
    hurried_ = true;
    round_.output->hurry(kOutputPatience);
    if (stage_ == Stage::running)
      obey(group_.on_guardian_lost(now()));
    else if (stage_ == Stage::sweeping)
      sweep_again();
  });
}

// What the workers have left: given a moment, because much of it is dying of the signal that its
// worker's group got; then asked; then killed.
void NodeAgent::sweep() {
  stage_ = Stage::sweeping;
  timer_.cancel();
  on_child_ended();
  if (stage_ != Stage::sweeping) return;
  if (hurried_) return sweep_again();
  sweep_later(kDyingTime, [this] { ask_descendants(); });
}

void NodeAgent::ask_descendants() {
  auto left = signal_descendants(SIGTERM);
  if (left.empty()) say("ddprun: workers have left processes that /proc does not show");
  group_.note_leftovers(std::move(left));
  sweep_later(kDescendantsGrace, [this] { sweep_again(); });
}

void NodeAgent::sweep_later(milliseconds delay, std::function<void()> next) {
  timer_.expires_after(delay);
  timer_.async_wait([this, next = std::move(next)](boost::system::error_code canceled) {
    if (!canceled && stage_ == Stage::sweeping) next();
  });
}

void NodeAgent::sweep_again() {
  if (group_.outcome().leftovers.empty()) group_.note_leftovers(signal_descendants(SIGKILL));
  // Workers that did not even end by SIGKILL are reported as such and not waited for again.
  std::vector<pid_t> stuck;
  for (int local_rank : group_.running()) stuck.push_back(workers_.pid(local_rank));
  for (pid_t pid : process::kill_all_children(stuck, {}, kKillPatienceMs))
    say("ddprun: process " + std::to_string(pid) + " (" + process::command_of(pid) +
        ") could not be killed; it is still there");
  drain();
}

void NodeAgent::drain() {
  stage_ = Stage::draining;
  timer_.expires_after(kOutputPatience);
  timer_.async_wait([this](boost::system::error_code canceled) {
    if (!canceled) finish();
  });
  round_.output->when_drained([this] { finish(); });
}

void NodeAgent::finish() {
  if (stage_ == Stage::ended) return;
  stage_ = Stage::ended;
  timer_.cancel();
  ended_();
}

void NodeAgent::say(const std::string& text) {
  round_.output->note(text);
}

}  // namespace ddprun::agent
