#include "launcher/agent/node_agent.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "launcher/agent/conclusion.h"
#include "launcher/agent/limits.h"
#include "launcher/agent/log_setup.h"
#include "launcher/agent/results.h"
#include "launcher/process/exit_codes.h"

namespace ddprun::agent {
namespace {

constexpr std::chrono::milliseconds kOutputPatienceWithoutGuardian{100};
constexpr std::chrono::milliseconds kOutputPatienceWhenStopped{1000};

}  // namespace

NodeAgent::NodeAgent(Job job)
    : job_(std::move(job)),
      run_id_(job_.spec.run_id.value_or(random_text(8))),
      output_(io_, output_options(job_)),
      events_(job_.plan, job_.host),
      store_(io_, job_.spec, output_),
      stdin_rank_(job_.spec, job_.link, [this](int signo) { on_signal(signo); }),
      guardian_(io_, job_.link.alive.release()) {}

report::ExitDecision NodeAgent::run() {
  const rlimit inherited = raise_descriptor_limit();
  if (auto opened = open_events(job_.spec, output_, events_); !opened)
    return refuse(process::kExitRefused, opened.error());
  const auto port = store_.open_round();
  if (!port) return refuse(process::kExitRefused, port.error());
  job_.timings.store_listening = std::chrono::steady_clock::now();
  // From here on there is something to clear up, so neither a signal nor the guardian's death may
  // end us by itself.
  signals_.emplace(io_, guardian::handled_signals(), [this](int signo) { on_signal(signo); });
  watch_guardian();
  guardian::outlive_guardian();
  auto directory = make_run_directory(job_, run_id_, output_);
  // A --log-dir that cannot be is a slip of the user's; TMPDIR is the system's business.
  if (!directory)
    return refuse(job_.spec.log_dir ? process::kExitRefused : process::kExitCannotWork,
                  directory.error());
  directory_.emplace(std::move(*directory));
  announce();
  parts_.emplace(JobParts{.io = io_,
                          .job = job_,
                          .output = output_,
                          .directory = *directory_,
                          .spawn = {.launcher = ::getpid(),
                                    .descriptors = inherited,
                                    .ignored_signals = process::ignored_signals()},
                          .programs = job_.programs,
                          .stdin_rank = stdin_rank_,
                          .run_id = run_id_,
                          .events = events_,
                          .timings = job_.timings});
  events_.job_started(run_id_, job_.spec.command);
  begin_round(0, *port);
  io_.run();
  return decision_;
}

// Everything a user is told before the first line of a worker.
void NodeAgent::announce() {
  if (job_.spec.verbosity == cli::Verbosity::quiet) return;
  for (const std::string& notice : job_.plan.notices) output_.note("ddprun: " + notice);
  output_.note(job_.plan.start_line);
  for (const std::string& line : job_.plan.binding_report) output_.note("ddprun: " + line);
}

void NodeAgent::begin_round(int attempt, std::uint16_t store_port) {
  round_ = std::make_unique<Round>(*parts_, plan::Meeting{.master_addr = store_address(job_.spec),
                                                          .master_port = store_port,
                                                          .run_id = run_id_,
                                                          .restart_count = attempt});
  round_->start([this] { on_round_ended(); });
}

void NodeAgent::on_round_ended() {
  store_.close();
  stdin_rank_.give_terminal_back();
  output_.stop_reading();
  decision_ = conclude(*parts_, *round_);
  flush();
}

void NodeAgent::on_signal(int signo) {
  if (!round_) return output_.hurry(kOutputPatienceWhenStopped);  // it only shows a refusal
  switch (signo) {
    case SIGCHLD:
      round_->on_child_ended();
      if (stdin_rank_.on_child_changed()) suspend();
      return;
    case SIGUSR1:
    case SIGUSR2:
      return round_->pass_user_signal(signo);
    case SIGTSTP:
      return suspend();
    case SIGCONT:
      stdin_rank_.on_continued();
      return round_->signal_groups(SIGCONT);
    default:
      break;
  }
  output_.hurry(kOutputPatienceWhenStopped);
  round_->on_stop_signal(signo);
}

// The guardian sees that this process has stopped and stops as well; SIGCONT comes back through it.
void NodeAgent::suspend() {
  round_->signal_groups(SIGSTOP);
  stdin_rank_.give_terminal_back();
  guardian::stop_until_continued(guardian_.native_handle());
}

void NodeAgent::watch_guardian() {
  using Descriptor = boost::asio::posix::stream_descriptor;
  guardian_.async_wait(Descriptor::wait_read, [this](boost::system::error_code canceled) {
    if (canceled) return;
    output_.hurry(kOutputPatienceWithoutGuardian);
    if (round_) round_->on_guardian_lost();
  });
}

report::ExitDecision NodeAgent::refuse(int code, const Error& error) {
  output_.note("ddprun: " + error.text);
  const report::ExitDecision end{.code = code};
  const std::string failed = write_report(
      job_.spec,
      json_refusal(record_of(job_.spec, job_.host, job_.timings, run_id_),
                   code == process::kExitRefused ? "refused" : "cannot_work", error.text, end),
      [this](const std::string& text) { output_.print(text); });
  if (!failed.empty()) output_.note("ddprun: " + failed);
  flush();
  io_.run();
  return end;
}

// Waits for slow readers of our output as long as nobody wants us to end.
void NodeAgent::flush() {
  output_.finish(output::Output::kForever, [this](output::Unshown) { io_.stop(); });
}

}  // namespace ddprun::agent
