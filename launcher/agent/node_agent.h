// One node's life: a sequence of rounds, and what lives longer than a round. Made by agent::run,
// which is what others use.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <optional>
#include <string>

#include "launcher/agent/agent.h"
#include "launcher/agent/job_events.h"
#include "launcher/agent/job_parts.h"
#include "launcher/agent/round.h"
#include "launcher/agent/run_directory.h"
#include "launcher/agent/signal_reader.h"
#include "launcher/agent/stdin_rank.h"
#include "launcher/agent/store_host.h"
#include "launcher/output/output.h"

namespace ddprun::agent {

// One thread, one io_context that waits for pidfds, pipes, signals and timers.
class NodeAgent {
 public:
  explicit NodeAgent(Job job);

  // Runs the job to its end. Once only.
  report::ExitDecision run();

 private:
  void announce();
  void watch_guardian();
  void on_signal(int signo);
  void suspend();
  void begin_round(int attempt, std::uint16_t store_port);
  void on_round_ended();
  report::ExitDecision refuse(int code, const Error& error);
  void flush();

  boost::asio::io_context io_;
  Job job_;
  std::string run_id_;
  report::ExitDecision decision_;
  output::Output output_;
  JobEvents events_;
  StoreHost store_;
  StdinRank stdin_rank_;
  std::optional<RunDirectory> directory_;
  std::optional<SignalReader> signals_;
  boost::asio::posix::stream_descriptor guardian_;
  std::optional<JobParts> parts_;
  std::unique_ptr<Round> round_;
};

}  // namespace ddprun::agent
