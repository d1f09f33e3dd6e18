// The worker processes of one node as the agent handles them: start, watch, signal, clear up.
//
// Knows pids and descriptors and decides nothing; supervise::Group does.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <string>
#include <vector>

#include "launcher/process/spawn.h"
#include "launcher/process/wait.h"
#include "launcher/supervise/outcome.h"

namespace ddprun::agent {

class Workers {
 public:
  using OnEnded = std::function<void(int local_rank, process::WaitStatus)>;

  // `on_ended` is called from the io_context, in the order in which the kernel announced the ends.
  Workers(boost::asio::io_context& io, int count, OnEnded on_ended);

  // Starts the worker of `local_rank` and watches it. Returns its pid, or why it could not be
  // started. `refused`, if given, gets what the kernel refused of its placement.
  boost::system::result<pid_t, process::SpawnFailure> start(
      int local_rank, const process::SpawnRequest& request, const process::SpawnSettings& settings,
      process::PlacementErrors* refused = nullptr);

  // Sends a signal to the process group of a worker, with SIGCONT behind it if the worker is
  // stopped. False when the worker has ended already, whether or not its end was announced yet.
  bool signal(int local_rank, int signo);
  // The same without SIGCONT and without asking: for SIGSTOP and SIGCONT themselves.
  void signal_group(int local_rank, int signo);

  pid_t pid(int local_rank) const { return workers_.at(static_cast<std::size_t>(local_rank)).pid; }

 private:
  struct Worker {
    explicit Worker(boost::asio::io_context& io) : pidfd(io) {}
    pid_t pid = 0;
    boost::asio::posix::stream_descriptor pidfd;
  };

  void watch(int local_rank);
  Worker& at(int local_rank) { return workers_.at(static_cast<std::size_t>(local_rank)); }

  std::vector<Worker> workers_;
  OnEnded on_ended_;
};

// Reaps orphans that this process has adopted and that have ended. Stops at a worker whose end was
// not announced yet.
void reap_orphans(const std::function<bool(pid_t)>& is_worker);
// Sends `signo` and SIGCONT to all descendants of this process and returns who they are. When the
// workers have ended these are what they left behind.
std::vector<supervise::Leftover> signal_descendants(int signo);

}  // namespace ddprun::agent
