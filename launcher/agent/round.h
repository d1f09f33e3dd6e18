// One round (attempt) of a job: a group of workers from the first start to the last byte of output.
//
// Carries out what supervise::Group decides. NodeAgent makes one Round after the other.
#pragma once

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/agent/asked_stacks.h"
#include "launcher/agent/job_parts.h"
#include "launcher/agent/progress_pipes.h"
#include "launcher/agent/starter.h"
#include "launcher/agent/stop_notice.h"
#include "launcher/agent/sweep.h"
#include "launcher/agent/workers.h"
#include "launcher/report/error_file.h"
#include "launcher/stacks/stack_taker.h"
#include "launcher/supervise/group.h"

namespace ddprun::agent {

// One thread. Once `ended` was called nothing waits any more, but what is already queued in the
// io_context may still look at the object: post its destruction.
class Round {
 public:
  // Borrows `parts`. `meeting` says where the store of this round is and which attempt it is.
  Round(const JobParts& parts, const plan::Meeting& meeting);

  // Starts the workers, from the event loop. `ended` is called from there once no worker and no
  // descendant is left and their output has been read. `changed`, if there is one, is called
  // whenever outcome() may have changed.
  void start(std::function<void()> ended, std::function<void()> changed = nullptr);

  // ddprun was told to stop, or its guardian is gone.
  void on_stop_signal(int signo);
  void on_guardian_lost();
  // The job's other nodes have ended the round, or it cannot go on without them.
  void on_ended_elsewhere(const std::string& why);
  // Some child of this process has ended: a worker, an orphan, or both.
  void on_child_ended();
  // Passes SIGUSR1 or SIGUSR2 to whoever has a handler for it.
  void pass_user_signal(int signo);
  // Stops all workers and what descends from them, whatever sessions they have opened.
  void stop_workers();
  // Continues whom stop_workers() has stopped, and the groups of all running workers.
  void continue_workers();
  // This process had been suspended, its workers with it.
  void on_resumed();

  // Writes the stacks of all running workers, which go on, into a new folder of the run directory
  // with this name.
  void take_stacks(const std::string& name, AskedStacks::Done done);

  int attempt() const { return attempt_; }
  // All workers were started.
  bool complete() const {
    return std::ranges::all_of(group_.outcome().workers,
                               [](const supervise::WorkerEnd& each) { return each.pid != 0; });
  }
  const supervise::Outcome& outcome() const { return group_.outcome(); }
  // With Cause::exec_failed: which program, and why.
  const std::optional<report::ExecFailure>& exec_failure() const { return exec_failure_; }
  // The files with the workers' stacks, by local rank; empty where none were taken.
  const std::vector<std::string>& stacks() const { return stacks_; }
  // The global ranks that the first failed worker had waited for, see report::absent_ranks.
  std::vector<int> absent() const;
  // The error.json of a worker that has ended badly.
  const report::ErrorFile& error_file(int local_rank) const {
    return error_files_.at(static_cast<std::size_t>(local_rank));
  }
  // The first failed worker was killed, and the cgroup's counter says by whom.
  const std::optional<report::OutOfMemory>& out_of_memory() const { return out_of_memory_; }

 private:
  enum class Stage { running, sweeping, draining, ended };

  void start_next();
  boost::system::result<pid_t, StartFailure> start_worker(int local_rank);
  std::vector<int> whose_stacks(const supervise::Decision& decision) const;
  std::vector<int> local_ranks_of(const std::vector<int>& ranks) const;
  void take_stacks(const std::vector<int>& local_ranks, const supervise::SignalOrder& order);
  void carry_out(const supervise::SignalOrder& order);
  report::ErrorFile read_error_of(int local_rank) const;
  void on_worker_ended(int local_rank, process::WaitStatus status);
  const supervise::WorkerEnd& worker(int local_rank) const {
    return group_.outcome().workers.at(static_cast<std::size_t>(local_rank));
  }
  void obey(const supervise::Decision& decision);
  void arm(const supervise::Decision& decision);
  void hurry();
  void sweep();
  void look_for_orphans_soon();
  void name_descendants();
  void drain();
  void finish();
  std::vector<pid_t> running_pids() const;
  void signal_groups(int signo);

  const JobParts& parts_;
  int attempt_;
  Starter starter_;
  Workers workers_;
  std::optional<ProgressPipes> progress_;  // with --progress-timeout
  supervise::Group group_;
  stacks::StackTaker stack_taker_;
  AskedStacks asked_stacks_;
  std::vector<std::string> stacks_;  // files by local rank; empty until stacks were taken
  std::vector<report::ErrorFile> error_files_;  // by local rank, of those that have ended
  report::OomCounter oom_;
  std::optional<report::OutOfMemory> out_of_memory_;
  Sweep sweep_;
  StopNotice stop_notice_;
  boost::asio::steady_timer timer_;
  std::optional<supervise::Time> armed_;  // what timer_ waits for while workers run
  bool hurried_ = false;                  // no patience with descendants
  std::vector<pid_t> stopped_;            // by stop_workers()
  bool looks_soon_ = false;               // see look_for_orphans_soon()
  Stage stage_ = Stage::running;
  std::optional<report::ExecFailure> exec_failure_;
  std::function<void()> ended_;
  std::function<void()> changed_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // see drain()
};

}  // namespace ddprun::agent
