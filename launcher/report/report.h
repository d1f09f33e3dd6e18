// What failed and why, for people, and the exit code. Pure: the same facts give the same text.
#pragma once

#include <string>
#include <vector>

#include "launcher/plan/launch_plan.h"
#include "launcher/supervise/outcome.h"

namespace ddprun::report {

// What the report needs beside the outcome. Vectors are by local rank.
struct Facts {
  const plan::LaunchPlan* plan = nullptr;   // borrowed for the call
  std::string host;
  int attempt = 0;
  std::string log_dir;                      // kept logs of this attempt; empty: none were kept
  std::vector<std::vector<std::string>> last_stderr;  // last lines of each worker, oldest first
  std::vector<std::vector<std::string>> last_stdout;
  std::vector<std::string> error_files;     // contents of each worker's error.json; empty: none was written
  int terminal_width = 80;
};

// At most a screen, whatever the number of ranks; ends with a newline. Empty after plain success.
std::string text(const supervise::Outcome& outcome, const Facts& facts);

// "SIGABRT (aborted, core dumped)", "exit code 3". Signals by name, with what they mean.
std::string describe(const supervise::WaitStatus& status);

// How ddprun itself has to end.
struct ExitDecision {
  int code = 0;         // the exit code, or 128 + n beside `by_signal`
  int by_signal = 0;    // end by this signal instead of exiting; 0: exit with `code`
};
ExitDecision exit_decision(const supervise::Outcome& outcome);

}  // namespace ddprun::report
