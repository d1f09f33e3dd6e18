#include "launcher/agent/agent.h"

#include <unistd.h>

#include <boost/asio/ip/address.hpp>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "launcher/agent/limits.h"
#include "launcher/agent/node_agent.h"
#include "launcher/process/exit_codes.h"
#include "rendezvous/server/server.h"

namespace ddprun::agent {
namespace {

constexpr int kStoreLines = 20;

output::Options output_options(const Job& job) {
  output::Options options;
  options.local_workers = static_cast<int>(job.plan.workers.size());
  options.world_size = job.plan.world_size;
  options.no_color = std::getenv("NO_COLOR");
  options.term = std::getenv("TERM");
  return options;
}

Result<std::unique_ptr<server::Server>> host_store(boost::asio::io_context& io, const Job& job,
                                                   output::Output& output) {
  server::ServerOptions options;
  options.address = store_address(job.spec);
  options.port = job.spec.master_port.value_or(0);
  options.port_advice =
      "stop it, give another --master-port, or leave it out to let the system choose";
  // Strangers that knock all the time must not fill the user's screen, or our memory.
  options.log = [&output, left = kStoreLines](const std::string& line) mutable {
    if (left-- > 0) output.note("ddprun: store: " + line);
    if (left == 0) output.note("ddprun: store: more of this kind is not shown");
  };
  return server::Server::listen(io, std::move(options));
}

// The parts that live as long as the job, in the order in which they need each other.
class JobRun {
 public:
  explicit JobRun(Job job)
      : job_(std::move(job)),
        run_id_(job_.spec.run_id.value_or(random_text(8))),
        output_(io_, output_options(job_)) {}

  report::ExitDecision run() {
    const rlimit inherited = raise_descriptor_limit();
    auto server = host_store(io_, job_, output_);
    if (!server) return refuse(process::kExitRefused, server.error());
    auto directory = RunDirectory::create(default_base(std::getenv("TMPDIR")), run_id_);
    if (!directory) return refuse(process::kExitCannotWork, directory.error());
    announce();
    Round round{.meeting = meeting((*server)->port()),
                .settings = {.launcher = ::getpid(),
                             .descriptors = inherited,
                             .ignored_signals = process::ignored_signals()},
                .output = &output_,
                .directory = &*directory};
    NodeAgent agent(io_, job_, round);
    agent.start([&] {
      (*server)->close();
      output_.stop_reading();
      decision_ = conclude(agent, *directory);
      flush();
    });
    io_.run();
    return decision_;
  }

 private:
  plan::Meeting meeting(int port) const {
    return {.master_addr = store_address(job_.spec),
            .master_port = port,
            .run_id = run_id_,
            .restart_count = 0};
  }

  // Everything a user is told before the first line of a worker.
  void announce() {
    if (job_.spec.verbosity == cli::Verbosity::quiet) return;
    for (const std::string& notice : job_.plan.notices) output_.note("ddprun: " + notice);
    output_.note(job_.plan.start_line);
  }

  report::ExitDecision conclude(const NodeAgent& agent, RunDirectory& directory) {
    const supervise::Outcome& outcome = agent.outcome();
    const bool success = outcome.cause == supervise::Cause::success;
    const bool quiet = job_.spec.verbosity == cli::Verbosity::quiet;
    if (!success || (!outcome.leftovers.empty() && !quiet)) {
      report::Facts facts = facts_of(directory, outcome.first_failed);
      facts.exec_failure = agent.exec_failure();
      if (outcome.first_failed)
        copy_error_file(facts.error_files.at(static_cast<std::size_t>(*outcome.first_failed)));
      output_.note(report::text(outcome, facts));
    }
    if (success) directory.remove();
    return report::exit_decision(outcome, agent.exec_failure());
  }

  report::Facts facts_of(const RunDirectory& directory, std::optional<int> first_failed) const {
    report::Facts facts;
    facts.plan = &job_.plan;
    facts.host = job_.host;
    facts.terminal_width = output::terminal_width(STDERR_FILENO);
    facts.error_files.resize(job_.plan.workers.size());
    for (const plan::WorkerPlan& worker : job_.plan.workers) {
      facts.last_stderr.push_back(output_.tail_stderr(worker.local_rank));
      facts.last_stdout.push_back(output_.tail_stdout(worker.local_rank));
    }
    if (!first_failed) return facts;
    const auto index = static_cast<std::size_t>(*first_failed);
    const int rank = job_.plan.workers.at(index).rank;
    std::string& text = facts.error_files.at(index);
    text = read_error_file(directory.error_file(facts.attempt, rank));
    if (!text.empty()) facts.log_dir = directory.attempt_path(facts.attempt);
    return facts;
  }

  // A launcher of launchers finds the cause where it told us to put it, as under torchrun.
  void copy_error_file(const std::string& text) {
    const auto path = job_.environment.get("TORCHELASTIC_ERROR_FILE");
    if (text.empty() || !path || path->empty()) return;
    std::ofstream file{std::string(*path), std::ios::binary};
    if (!(file << text).flush())
      output_.note("ddprun: cannot copy the error file to '" + std::string(*path) + "'");
  }

  report::ExitDecision refuse(int code, const Error& error) {
    output_.note("ddprun: " + error.text);
    flush();
    io_.run();
    return {.code = code};
  }

  // Waits for slow readers of our output as long as nobody wants us to end.
  void flush() {
    output_.finish(output::Output::kForever, [this](output::Unshown) { io_.stop(); });
  }

  Job job_;
  const std::string run_id_;
  boost::asio::io_context io_{1};
  output::Output output_;
  report::ExitDecision decision_;
};

}  // namespace

std::string store_address(const cli::JobSpec& spec) {
  const std::string given = spec.master_addr.value_or("");
  boost::system::error_code not_an_address;
  const auto address = boost::asio::ip::make_address(given, not_an_address);
  return !not_an_address && address.is_loopback() ? given : "127.0.0.1";
}

std::optional<report::ExecFailure> cannot_execute(const std::string& program,
                                                  const cli::Environment& environment) {
  const auto file =
      process::find_program(program, environment.get("PATH").value_or(process::kDefaultPath));
  if (file.error == 0) return {};
  return report::explain_exec_failure(program, file.error,
                                      report::look_at_program(program, file.path));
}

report::ExitDecision run(Job job) {
  return JobRun(std::move(job)).run();
}

}  // namespace ddprun::agent
