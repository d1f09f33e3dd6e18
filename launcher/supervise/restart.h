// Whether another attempt follows a failed one, and after which pause.
//
// Pure. PyTorch's counterpart is the restart loop of elastic's agent, which never pauses.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "launcher/supervise/outcome.h"

namespace ddprun::supervise {

struct RestartOptions {
  int max_restarts = 0;
  // The first pause; it doubles with every further attempt that fails at once. 0: never pause.
  std::chrono::nanoseconds backoff = std::chrono::seconds(1);
};

// What ends a job although another attempt could follow.
struct Interruption {
  Cause cause = Cause::stop_signal;  // stop_signal, guardian_lost, timeout or ended_elsewhere
  int stop_signal = 0;               // with stop_signal
  std::chrono::nanoseconds limit{};  // with timeout
};

// The failure that ended an attempt, if it is one that another attempt may follow: a worker failed,
// or fell silent. Everything else is not cured by starting again: the program cannot be executed,
// ddprun was told to stop, a time limit of the job has passed, or a worker could not be killed and
// still holds what the next one needs.
std::optional<Attempt> failed_attempt(int number, const Outcome& outcome);

struct RestartDecision {
  bool restart = false;
  std::chrono::nanoseconds pause{};  // from now on, with `restart`
  std::string reason;                // of the pause, or why no attempt follows
};

// `attempts` are all that have failed so far, the one that has just ended included. A group that
// fails within a second of its start twice in a row pauses for the backoff, three times in a row
// for twice as long, and so on, at most 30 s (or the backoff, if that is longer).
RestartDecision decide_restart(const std::vector<Attempt>& attempts, const RestartOptions& options);

// The outcome of the attempt that was the last one only because of `interruption`.
Outcome interrupted(Outcome last, const Interruption& interruption);

}  // namespace ddprun::supervise
