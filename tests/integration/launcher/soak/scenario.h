// One run of the crash soak, made of a seed: what the workers do, which of them fails and how, and
// what is done to ddprun meanwhile. No clock and no process here: the same seed is the same run.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddprun::soak {

// Suspended: as by Ctrl-Z, and continued once ddprun has stopped.
enum class Disturbance { none, stop_signal, suspend, kill_launcher, kill_guardian };

// The one worker that fails by itself, in each attempt. Either a code or a signal.
struct Failure {
  int rank = 0;
  int code = 0;  // one more in each attempt
  int signal = 0;
};

struct Scenario {
  std::uint64_t seed = 0;
  std::vector<std::string> roles;  // for soak_worker, by rank; its top explains them
  std::optional<Failure> failure;
  int restarts = 0;
  Disturbance disturbance = Disturbance::none;
  int signo = 0;  // the stop signal
  std::chrono::microseconds disturbed_after{0};
};

Scenario scenario_of(std::uint64_t seed);

// On one line, for whoever has to understand a run that went wrong.
std::string describe(const Scenario& scenario);

// The words behind "ddprun".
std::vector<std::string> command_of(const Scenario& scenario, const std::string& worker);

// How ddprun ended: by an exit code or by a signal, and what it wrote to stderr.
struct End {
  int code = -1;
  int signal = 0;
  std::string err;
};

// What is wrong with the way it ended; empty when it ended as it should. Where a failure and a
// disturbance race, either may win, but what is told must be true.
std::string wrong_with(const Scenario& scenario, const End& end);

}  // namespace ddprun::soak
