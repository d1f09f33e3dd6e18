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
  success,        // every worker ended with 0
  worker_failed,  // a worker ended badly by itself
  exec_failed,    // a worker's program could not be executed
  stop_signal,    // ddprun was told to stop
  guardian_lost,  // ddprun's other process was killed
};

// A descendant of a worker that was still there after the last worker had ended.
struct Leftover {
  pid_t pid = 0;
  std::string command;
};

struct Outcome {
  Cause cause = Cause::success;
  std::optional<int> first_failed;  // local rank, with worker_failed and exec_failed
  int exec_errno = 0;               // with exec_failed
  int stop_signal = 0;              // with stop_signal
  Time stopping_since{};  // when the stop ladder began; when the group was made if it never did
  std::vector<WorkerEnd> workers;   // by local rank
  std::vector<Leftover> leftovers;  // stopped by ddprun at the end
};

}  // namespace ddprun::supervise
