// One node's life: a sequence of rounds, and what lives longer than a round. Made by agent::run,
// which is what others use.
#pragma once

#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/agent/agent.h"
#include "launcher/agent/engine_process.h"
#include "launcher/agent/job_events.h"
#include "launcher/agent/job_parts.h"
#include "launcher/agent/membership.h"
#include "launcher/agent/round.h"
#include "launcher/agent/run_directory.h"
#include "launcher/agent/signal_reader.h"
#include "launcher/agent/stdin_rank.h"
#include "launcher/agent/store_host.h"
#include "launcher/output/output.h"
#include "launcher/process/exit_codes.h"
#include "launcher/supervise/restart.h"
#include "rendezvous/client/look_up.h"

namespace ddprun::agent {

// One thread, one io_context that waits for pidfds, pipes, signals and timers.
class NodeAgent {
 public:
  explicit NodeAgent(Job job);

  // Runs the job to its end. Once only.
  report::ExitDecision run();

 private:
  Result<void> make_parts(const std::string& shared_name);
  void watch_signals();
  void announce_notices();
  void announce();
  void watch_guardian();
  void watch_engine();
  void on_signal(int signo);
  void on_stop_signal(int signo);
  void on_signal_between_rounds(int signo);
  void suspend();
  void begin_round(int attempt, std::uint16_t store_port);
  void on_round_ended();
  void pause(std::chrono::nanoseconds pause);
  void restart();
  void interrupt(const supervise::Interruption& why);
  void check_timeout();
  void end(const supervise::Outcome& outcome);

  // Several nodes: node_agent_membership.cpp.
  void join();
  void check_local_addr();
  void join_others();
  MembershipHooks membership_hooks();
  void begin_assigned_round(const membership::BeginRound& round);
  void take_place(const protocol::NodePlace& place);
  void on_round_changed();
  void take_stacks(std::uint64_t id, AskedStacks::Done done);
  void tell_started();
  void tell_failed();
  void on_assigned_round_ended();
  void on_timeout_between_rounds();
  void leave_if_out_of_time();
  void leave(const std::string& why, std::optional<int> exit_code = {});
  void on_verdict(const membership::Verdict& verdict);
  supervise::Outcome outcome_of(const membership::Verdict& verdict);
  void end_without_round(const membership::Verdict& verdict);
  void end_as_spare(const std::string& why);
  void say_unable_soon();
  void end_unable(const membership::Verdict& verdict);
  std::chrono::nanoseconds store_patience(const membership::Verdict& verdict) const;

  report::ExitDecision refuse(int code, const Error& error);
  report::ExitDecision tell_refusal(report::ExitDecision end, std::string_view cause,
                                    const std::string& text, bool happened_here = true);
  void report_without_round(report::ExitDecision end, std::string_view cause,
                            const std::string& text);
  void flush();

  boost::asio::io_context io_;
  Job job_;
  std::string run_id_;
  rlimit inherited_{};  // on descriptors
  report::ExitDecision decision_;
  output::Output output_;
  JobEvents events_;
  StoreHost store_;
  StdinRank stdin_rank_;
  std::optional<RunDirectory> directory_;
  std::optional<SignalReader> signals_;
  boost::asio::posix::stream_descriptor guardian_;
  std::optional<EngineProcess> engine_;  // of Slurm and MPI
  std::optional<JobParts> parts_;
  std::unique_ptr<Round> round_;              // the present one, or the last one during a pause
  std::vector<supervise::Attempt> attempts_;  // that have failed and were, or may be, repeated
  std::optional<supervise::Interruption> interruption_;
  boost::asio::steady_timer pause_;
  bool pausing_ = false;
  boost::asio::steady_timer unable_notice_;
  std::optional<client::LookUp> local_addr_;  // of --local-addr, before this node joins
  boost::asio::steady_timer local_addr_limit_;

  // round_ hears of signals: from the first one on, and on several nodes while its workers run.
  bool at_work_ = false;
  std::unique_ptr<Membership> membership_;  // of several nodes
  bool told_started_ = false;               // of round_
  bool told_failed_ = false;
  std::optional<report::RemoteCause> remote_;  // why the job ended, where it was not this node
};

}  // namespace ddprun::agent
