#include "launcher/agent/node_agent.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "launcher/agent/conclusion.h"
#include "launcher/agent/limits.h"
#include "launcher/agent/log_setup.h"
#include "launcher/agent/results.h"
#include "launcher/process/exit_codes.h"
#include "launcher/report/attempts.h"

namespace ddprun::agent {
namespace {

constexpr std::chrono::milliseconds kOutputPatienceWithoutGuardian{100};
constexpr std::chrono::milliseconds kOutputPatienceWhenStopped{1000};

bool contains(const std::vector<int>& signals, int signo) {
  return std::find(signals.begin(), signals.end(), signo) != signals.end();
}

// Signals that are not to stop the job are read as well, for else they would end this process.
std::vector<int> signals_to_read(const Job& job) {
  std::vector<int> signals = guardian::handled_signals();
  for (int signo : job.spec.signals_to_handle)
    if (!contains(signals, signo)) signals.push_back(signo);
  return signals;
}

// Where the job cannot go on without this node it was the job that was told to stop: scancel and
// its like signal all nodes, and whichever is first must not look like a failure to the others.
std::optional<int> code_for_all(const cli::JobSpec& spec, int signo) {
  const bool goes_on =
      spec.rendezvous.min_nodes < spec.rendezvous.max_nodes || spec.max_restarts > 0;
  return goes_on ? std::nullopt : std::optional(128 + signo);
}

}  // namespace

NodeAgent::NodeAgent(Job job)
    : job_(std::move(job)),
      run_id_(job_.spec.run_id.value_or(random_text(8))),
      output_(io_, output_options(job_)),
      events_(job_.plan, job_.host),
      store_(io_, store_options(job_.spec), output_),
      stdin_rank_(job_.spec, job_.link, [this](int signo) { on_signal(signo); }),
      guardian_(io_, job_.link.alive.release()),
      pause_(io_),
      unable_notice_(io_),
      local_addr_limit_(io_) {}

report::ExitDecision NodeAgent::run() {
  inherited_ = raise_descriptor_limit();
  if (auto opened = open_events(job_.spec, output_, events_); !opened)
    return refuse(process::kExitRefused, opened.error());
  if (job_.spec.rendezvous.several_nodes()) {
    join();
    io_.run();
    return decision_;
  }
  const auto port = store_.open_round();
  if (!port) return refuse(process::kExitRefused, port.error());
  job_.timings.store_listening = std::chrono::steady_clock::now();
  watch_signals();
  // A --log-dir that cannot be is a slip of the user's; TMPDIR is the system's business.
  if (auto made = make_parts(""); !made)
    return refuse(job_.spec.log_dir ? process::kExitRefused : process::kExitCannotWork,
                  made.error());
  begin_round(0, *port);
  io_.run();
  return decision_;
}

// From here on there is something to clear up, so neither a signal nor the guardian's death may end
// us by itself.
void NodeAgent::watch_signals() {
  signals_.emplace(io_, signals_to_read(job_), [this](int signo) { on_signal(signo); });
  watch_guardian();
  watch_engine();
  guardian::outlive_guardian();
}

Result<void> NodeAgent::make_parts(const std::string& shared_name) {
  auto directory = make_run_directory(job_, run_id_, shared_name, output_);
  if (!directory) return directory.error();
  directory_.emplace(std::move(*directory));
  guardian::leave_directory(job_.link, directory_->path());
  announce();
  parts_.emplace(JobParts{.io = io_,
                          .job = job_,
                          .output = output_,
                          .directory = *directory_,
                          .spawn = {.launcher = ::getpid(),
                                    .descriptors = inherited_,
                                    .ignored_signals = process::ignored_signals()},
                          .programs = job_.programs,
                          .stdin_rank = stdin_rank_,
                          .run_id = run_id_,
                          .events = events_,
                          .timings = job_.timings});
  events_.job_started(run_id_, job_.spec.command);
  return {};
}

void NodeAgent::announce_notices() {
  if (job_.spec.verbosity == cli::Verbosity::quiet) return;
  const std::size_t first = job_.spec.rendezvous.first_node_speaks() ? job_.plan.common_notices : 0;
  for (std::size_t i = first; i < job_.plan.notices.size(); ++i)
    output_.note("ddprun: " + job_.plan.notices[i]);
}

// What a user is told before the first line of a worker.
void NodeAgent::announce() {
  if (job_.spec.verbosity == cli::Verbosity::quiet) return;
  if (!membership_) announce_notices();
  output_.note(job_.plan.start_line);
  for (const std::string& line : job_.plan.binding_report) output_.note("ddprun: " + line);
}

void NodeAgent::begin_round(int attempt, std::uint16_t store_port) {
  round_ = std::make_unique<Round>(*parts_, plan::Meeting{.master_addr = store_address(job_.spec),
                                                          .master_port = store_port,
                                                          .run_id = run_id_,
                                                          .restart_count = attempt,
                                                          .round = attempt});
  at_work_ = true;
  round_->start([this] { on_round_ended(); });
}

void NodeAgent::on_round_ended() {
  const auto failed = supervise::failed_attempt(round_->attempt(), round_->outcome());
  if (!failed) return end(round_->outcome());
  attempts_.push_back(*failed);
  attempts_.back().absent = round_->absent();
  const auto next = supervise::decide_restart(
      attempts_, {.max_restarts = job_.spec.max_restarts, .backoff = job_.spec.restart_backoff});
  if (!next.restart) {
    attempts_.pop_back();  // it is the one that is reported
    return end(round_->outcome());
  }
  check_timeout();
  if (interruption_) return end(supervise::interrupted(round_->outcome(), *interruption_));
  if (job_.spec.verbosity != cli::Verbosity::quiet)
    output_.note(report::restart_line(attempts_.back(), job_.spec.max_restarts, next, job_.plan));
  if (next.pause == next.pause.zero()) return restart();
  pause(next.pause);
}

void NodeAgent::pause(std::chrono::nanoseconds pause) {
  auto until = std::chrono::steady_clock::now() + pause;
  if (const auto limit = supervise::deadline(job_.link.started, job_.spec.timeout))
    until = std::min(until, *limit);
  pausing_ = true;
  pause_.expires_at(until);
  pause_.async_wait([this](boost::system::error_code) {
    if (!std::exchange(pausing_, false)) return;
    check_timeout();
    if (interruption_) return end(supervise::interrupted(round_->outcome(), *interruption_));
    restart();
  });
}

void NodeAgent::restart() {
  const int attempt = round_->attempt() + 1;
  // What the old round has waited for may already be queued, and looks at it once more.
  boost::asio::post(io_, [old = std::move(round_)] {});
  const auto port = store_.open_round();
  if (!port) {
    decision_ = tell_refusal({process::kExitCannotWork}, "cannot_work",
                             "cannot start again: " + port.error().text);
    return flush();
  }
  events_.restart(attempt, report::attempt_line(attempts_.back(), job_.plan));
  begin_round(attempt, *port);
}

// Ends the job even if another attempt could follow. The first reason counts.
void NodeAgent::interrupt(const supervise::Interruption& why) {
  if (!interruption_) interruption_ = why;
  if (pausing_) pause_.cancel();
}

void NodeAgent::check_timeout() {
  const auto limit = supervise::deadline(job_.link.started, job_.spec.timeout);
  if (limit && std::chrono::steady_clock::now() >= *limit)
    interrupt({.cause = supervise::Cause::timeout, .limit = *job_.spec.timeout});
}

void NodeAgent::end(const supervise::Outcome& outcome) {
  store_.close();
  stdin_rank_.give_terminal_back();
  output_.stop_reading();
  decision_ = conclude(*parts_, *round_, outcome, attempts_, remote_);
  flush();
}

void NodeAgent::on_signal(int signo) {
  if (!at_work_) return on_signal_between_rounds(signo);
  if (signo == SIGCHLD) {
    round_->on_child_ended();
    if (stdin_rank_.on_child_changed()) suspend();
    return;
  }
  if (signo == SIGTSTP) return suspend();
  if (signo == SIGCONT) {
    stdin_rank_.on_continued();
    return round_->continue_workers();
  }
  if (contains(job_.spec.signals_to_handle, signo)) return on_stop_signal(signo);
  if (signo == SIGUSR1 || signo == SIGUSR2) return round_->pass_user_signal(signo);
  output_.note("ddprun: " + report::signal_name(signo) +
               " was ignored: it is not among those of --signals-to-handle");
}

// While other nodes are waited for, or while a refusal is shown.
void NodeAgent::on_signal_between_rounds(int signo) {
  if (!membership_) return output_.hurry(kOutputPatienceWhenStopped);
  if (signo == SIGTSTP) return suspend();
  if (contains(job_.spec.signals_to_handle, signo)) on_stop_signal(signo);
}

void NodeAgent::on_stop_signal(int signo) {
  output_.hurry(kOutputPatienceWhenStopped);
  if (at_work_) round_->on_stop_signal(signo);
  interrupt({.cause = supervise::Cause::stop_signal, .stop_signal = signo});
  if (!membership_) return;
  // The first signal may let this node end at once, and only the next one means what it keeps for
  // the others.
  membership_->hurry();
  leave("stopped by " + report::signal_name(signo), code_for_all(job_.spec, signo));
}

// The guardian sees that this process has stopped and stops as well; SIGCONT comes back through it.
void NodeAgent::suspend() {
  if (at_work_) round_->stop_workers();
  stdin_rank_.give_terminal_back();
  guardian::stop_until_continued(guardian_.native_handle());
  if (at_work_) round_->on_resumed();
}

void NodeAgent::watch_guardian() {
  using Descriptor = boost::asio::posix::stream_descriptor;
  guardian_.async_wait(Descriptor::wait_read, [this](boost::system::error_code canceled) {
    if (canceled) return;
    output_.hurry(kOutputPatienceWithoutGuardian);
    // Whoever killed the guardian may want to start again at once, with the same port.
    store_.stop_listening();
    if (at_work_) round_->on_guardian_lost();
    interrupt({.cause = supervise::Cause::guardian_lost});
    if (membership_) leave("its outer process was killed");
  });
}

// mpirun and slurmstepd end after what they have started, unless they are killed.
void NodeAgent::watch_engine() {
  const cluster::Engine engine = job_.spec.rendezvous.engine;
  if (engine != cluster::Engine::mpi && engine != cluster::Engine::slurm) return;
  engine_.emplace(io_, job_.link.started_by, [this](const std::string& what) {
    output_.note("ddprun: " + what + ", which started this ddprun, has ended");
    on_stop_signal(SIGTERM);
  });
}

report::ExitDecision NodeAgent::refuse(int code, const Error& error) {
  const report::ExitDecision end =
      tell_refusal({code}, code == process::kExitRefused ? "refused" : "cannot_work", error.text);
  flush();
  io_.run();
  return end;
}

// On stderr and in the report.
report::ExitDecision NodeAgent::tell_refusal(report::ExitDecision end, std::string_view cause,
                                             const std::string& text, bool happened_here) {
  if (job_.upstream)
    job_.upstream->report(happened_here, "ddprun: " + text + "\n");
  else
    output_.note("ddprun: " + text);
  report_without_round(end, cause, text);
  return end;
}

void NodeAgent::report_without_round(report::ExitDecision end, std::string_view cause,
                                     const std::string& text) {
  const std::string failed = write_report(
      job_.spec,
      json_refusal(record_of(job_.spec, job_.host, job_.timings, run_id_), cause, text, end),
      [this](const std::string& report) { output_.print(report); });
  if (!failed.empty()) output_.note("ddprun: " + failed);
}

// Waits for slow readers of our output as long as nobody wants us to end.
void NodeAgent::flush() {
  output_.finish(output::Output::kForever, [this](output::Unshown) { io_.stop(); });
}

}  // namespace ddprun::agent
