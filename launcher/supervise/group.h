// The decisions about a group of workers: what the first failure is, whom to signal when, and when
// it is over.
//
// Pure: events with their times go in, orders come out. Whoever carries the orders out (the agent)
// owns pids, clocks and descriptors.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/supervise/limits.h"
#include "launcher/supervise/outcome.h"

namespace ddprun::supervise {

struct Options {
  // Between the first signal of the stop ladder and SIGKILL; one deadline for all workers. 0:
  // SIGKILL at once.
  std::chrono::nanoseconds grace = std::chrono::seconds(30);
  LimitOptions limits;
};

// One order. `signo` goes to the process group of every worker of `local_ranks` that still runs;
// stopped groups get SIGCONT behind it, so that they can act on it.
struct SignalOrder {
  int signo = 0;
  std::vector<int> local_ranks;
};

struct Decision {
  std::optional<SignalOrder> signal;
  std::optional<Time> wake_at;  // call on_time then, or earlier; none: there is nothing to wait for
  bool finished = false;        // outcome() is complete
  std::string reason;           // for -v; empty when nothing was decided
};

class Group {
 public:
  Group(int workers, Options options, Time now);

  // A worker was started, or its program could not be executed.
  Decision on_started(Time now, int local_rank, pid_t pid);
  Decision on_exec_failed(Time now, int local_rank);
  // A worker has ended; call it in the order in which the workers ended.
  Decision on_ended(Time now, int local_rank, WaitStatus status);
  // ddprun was told to stop. During a stop ladder that has another reason the first signal changes
  // nothing; a second one more than 100 ms after the first means "at once".
  Decision on_stop_signal(Time now, int signo);
  // The round is over because of something on another node; `why` is the reason.
  Decision on_ended_elsewhere(Time now, std::string why);
  // ddprun's other process is gone: half a second of grace, whatever the options say.
  Decision on_guardian_lost(Time now);
  // A worker has written to its progress descriptor, or has closed it.
  Decision on_progress(Time now, int local_rank);
  Decision on_progress_closed(Time now, int local_rank);
  // The whole job had been suspended until now.
  Decision on_resumed(Time now);
  Decision on_time(Time now);

  // The agent says that it has really sent a signal to a running worker: what ends a worker after
  // this counts as stopped by ddprun.
  void note_signalled(int local_rank, int signo);

  // Descendants that the workers had left behind, for the outcome.
  void note_leftovers(std::vector<Leftover> leftovers) {
    outcome_.leftovers = std::move(leftovers);
  }

  // Workers that were started and have not ended, by local rank.
  std::vector<int> running() const;
  // The worker to be started next; none when all were or none is to be any more.
  std::optional<int> next_to_start() const;
  const Outcome& outcome() const { return outcome_; }

 private:
  enum class Phase { running, stopping, killing, finished };

  Decision stop(Time now, Cause cause, int signo, std::chrono::nanoseconds grace,
                std::string reason);
  Decision kill(Time now, std::string reason);
  Decision on_exited_zero(WorkerEnd& ended);
  Decision stop_at_limit(Time now, const Limits::Passed& passed);
  Decision settle(Decision decision);
  bool everything_ended() const;
  WorkerEnd& worker(int local_rank) {
    return outcome_.workers.at(static_cast<std::size_t>(local_rank));
  }

  Options options_;
  Limits limits_;
  Phase phase_ = Phase::running;
  int next_ = 0;                  // local rank to be started next
  int running_ = 0;               // workers
  std::optional<Time> deadline_;  // of the stop ladder's present rung
  std::optional<Time> first_stop_signal_;
  Outcome outcome_;
};

}  // namespace ddprun::supervise
