// Carries out what supervise::Group decides. Made by agent::run, which is what others use.
#pragma once

#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launcher/agent/agent.h"
#include "launcher/agent/run_directory.h"
#include "launcher/agent/signal_reader.h"
#include "launcher/agent/workers.h"
#include "launcher/output/output.h"
#include "launcher/plan/worker_environment.h"
#include "launcher/process/program.h"
#include "launcher/supervise/group.h"

namespace ddprun::agent {

// Everything that one round of workers needs and that exists before the first of them.
struct Round {
  plan::Meeting meeting;
  process::SpawnSettings settings;
  output::Output* output;   // borrowed
  RunDirectory* directory;  // borrowed
};

// One group of workers, from the first start to the last byte of output. One thread.
class NodeAgent {
 public:
  NodeAgent(boost::asio::io_context& io, Job& job, const Round& round);

  // Starts the workers, from the event loop. `ended` is called from there once no worker and no
  // descendant is left and their output has been read.
  void start(std::function<void()> ended);

  const supervise::Outcome& outcome() const { return group_.outcome(); }
  // With Cause::exec_failed: which program, and why.
  const std::optional<report::ExecFailure>& exec_failure() const { return exec_failure_; }

 private:
  enum class Stage { running, sweeping, draining, ended };

  void start_next();
  // Either a step of starting the process failed, or what had to be there before (`text`).
  struct StartFailure {
    std::optional<process::SpawnStep> step;
    int error = 0;
    std::string text;
  };
  boost::system::result<pid_t, StartFailure> start_worker(int local_rank);
  report::ExecFailure explain(const StartFailure& failure) const;
  void obey(const supervise::Decision& decision);
  void arm(const supervise::Decision& decision);
  void on_signal(int signo);
  void on_child_ended();
  void pass_user_signal(int signo);
  void suspend();
  void watch_guardian();
  void sweep();
  void ask_descendants();
  void sweep_again();
  void sweep_later(std::chrono::milliseconds delay, std::function<void()> next);
  void drain();
  void finish();
  void say(const std::string& text);

  boost::asio::io_context& io_;
  Job& job_;
  Round round_;
  Workers workers_;
  supervise::Group group_;
  SignalReader signals_;
  boost::asio::posix::stream_descriptor guardian_;
  boost::asio::steady_timer timer_;
  std::optional<supervise::Time> armed_;  // what timer_ waits for while workers run
  process::ProgramFile program_;
  plan::WorkerEnvironment environment_;
  UniqueFd null_;
  bool hurried_ = false;  // no patience with descendants
  Stage stage_ = Stage::running;
  std::optional<report::ExecFailure> exec_failure_;
  std::function<void()> ended_;
};

}  // namespace ddprun::agent
