// How a group of workers ended. Made by the supervise core, told to people by the report room.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "launcher/process/wait_status.h"

namespace ddprun::supervise {

// Monotonic time; only differences mean anything.
using Time = std::chrono::steady_clock::time_point;

using process::WaitStatus;

// The five classes of the specification, and the worker that could not be started.
enum class Ending {
  exited_zero,    // ended with 0 by itself
  failed_first,   // the cause
  failed_after,   // ended badly before ddprun signalled it
  stopped,        // ended after ddprun had signalled it, with whatever code
  still_running,  // could not be killed
  not_started,    // never ran
};

struct WorkerEnd {
  int local_rank = 0;
  pid_t pid = 0;  // 0: never started
  Time started{};
  std::optional<Time> ended;
  std::optional<WaitStatus> status;
  Ending ending = Ending::not_started;
  int last_signal = 0;  // the last signal ddprun sent it, 0: none
};

// Why the group ended.
enum class Cause {
  success,           // every worker ended with 0
  worker_failed,     // a worker ended badly by itself
  exec_failed,       // a worker's program could not be executed
  stop_signal,       // ddprun was told to stop
  guardian_lost,     // ddprun's other process was killed
  progress_timeout,  // a worker had reported progress and then fell silent (--progress-timeout)
  exit_grace,        // some still ran long after the first exit with 0 (--exit-grace)
  timeout,           // the job ran too long (--timeout)
  ended_elsewhere,   // the job's other nodes, or who keeps them together, have ended the round
};

// A descendant of a worker that was still there after the last worker had ended.
struct Leftover {
  pid_t pid = 0;
  std::string command;
};

struct Outcome {
  Cause cause = Cause::success;
  // Local rank, with worker_failed, exec_failed and progress_timeout.
  std::optional<int> first_failed;
  std::vector<int> silent_too;       // local ranks, with progress_timeout; see Limits::Passed
  int stop_signal = 0;               // with stop_signal
  std::chrono::nanoseconds limit{};  // with the three timeouts: what was allowed
  Time started{};                    // when the group was made
  Time stopping_since{};             // when the stop ladder began; `started` if it never did
  std::vector<WorkerEnd> workers;    // by local rank
  std::vector<Leftover> leftovers;   // stopped by ddprun at the end
};

// How an attempt failed that another one followed, or that only a stop signal or the time limit
// kept from being followed.
struct Attempt {
  int number = 0;                      // TORCHELASTIC_RESTART_COUNT
  Cause cause = Cause::worker_failed;  // or progress_timeout
  int first_failed = 0;                // local rank
  std::optional<WaitStatus> status;    // how that worker ended
  std::chrono::nanoseconds ran{};      // from that worker's start until it failed
  std::chrono::nanoseconds limit{};    // with progress_timeout
  // On several nodes, where the failed worker may be one of another node: its global rank and its
  // host. `first_failed` means nothing then.
  std::optional<int> rank = {};
  std::string host = {};
  std::string how = {};          // it failed, in that node's words; empty: `status` alone
  std::vector<int> absent = {};  // global ranks that the failed worker had waited for
};

}  // namespace ddprun::supervise
