// What failed and why, for people, and the exit code. Pure: the same facts give the same text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "launcher/plan/launch_plan.h"
#include "launcher/report/error_file.h"
#include "launcher/report/exec_failure.h"
#include "launcher/report/out_of_memory.h"
#include "launcher/report/remote_cause.h"
#include "launcher/supervise/outcome.h"

namespace ddprun::report {

// What the report needs beside the outcome. Vectors are by local rank; they may be empty or short,
// which means that nothing is known of the other workers.
struct Facts {
  const plan::LaunchPlan* plan = nullptr;  // borrowed for the call; must be set
  std::string host;
  int attempt = 0;
  std::string log_dir;  // kept logs of this attempt; empty: none were kept
  std::vector<std::vector<std::string>> last_stderr;  // last lines of each worker, oldest first
  std::vector<std::vector<std::string>> last_stdout;
  bool output_captured = true;         // false with --output inherit
  std::vector<ErrorFile> error_files;  // each worker's error.json
  std::vector<int> absent;  // ranks that the first failed worker had waited for (blame.h)
  std::optional<ExecFailure> exec_failure;           // set with Cause::exec_failed
  std::optional<RemoteCause> remote;                 // set with Cause::ended_elsewhere
  std::vector<supervise::Attempt> earlier_attempts;  // oldest first
  std::vector<std::string> stacks;  // the file with each worker's stacks; empty: none were taken
  // Of the first failed worker: the cgroup's counter rose before it died; where its core dump is
  // ("core: …"), empty without one.
  std::optional<OutOfMemory> out_of_memory;
  std::string core;
  int terminal_width = 80;
};

// What a vector of Facts says of one worker; empty where nothing is known of it.
template <class T>
T at_or_empty(const std::vector<T>& values, int local_rank) {
  const auto i = static_cast<std::size_t>(local_rank);
  return i < values.size() ? values[i] : T{};
}

// At most a screen of 24 lines, whatever the number of ranks; ends with a newline. Empty after
// plain success; after success with restarts one line says so. Ranks are global ranks. Always valid
// UTF-8 without control characters, whatever the workers wrote.
std::string text(const supervise::Outcome& outcome, const Facts& facts);

// How the first failed worker failed: "SIGABRT (aborted, core dumped)", "no progress for 5 s
// (--progress-timeout)". There must be one.
std::string how_failed(const supervise::Outcome& outcome, const Facts& facts);
// The same of one on another node, in the words of that node where it has given any.
std::string how(const RemoteCause::Worker& worker);

// How the first failed worker failed, and after how long: "SIGABRT (aborted, core dumped) after
// 1.204 s". SIGKILL that ddprun did not send is the kernel's where that is proven. There must be a
// first failed worker.
std::string what_failed(const supervise::Outcome& outcome, const Facts& facts);

// "SIGABRT (aborted, core dumped)", "exit code 3". Signals by name, with what they mean; of SIGKILL
// nobody but the sender knows who sent it, and so it is said.
std::string describe(const supervise::WaitStatus& status);

// "SIGTERM"; "signal 40" for one without a name.
std::string signal_name(int signal);

// How ddprun itself has to end.
struct ExitDecision {
  int code = 0;       // the exit code, or 128 + n beside `by_signal`
  int by_signal = 0;  // end by this signal instead of exiting; 0: exit with `code`
};

// 0 after success; the first failing worker's code, 128 + n for a signal; `exec_failure`'s code,
// which is needed with Cause::exec_failed; `remote`'s code with Cause::ended_elsewhere; by the stop
// signal; 124 after a timeout; 125 when ddprun could not do its work: its outer process was killed,
// or a worker could not be (then whatever the cause was, because the job is not over).
ExitDecision exit_decision(const supervise::Outcome& outcome,
                           const std::optional<ExecFailure>& exec_failure = std::nullopt,
                           const std::optional<RemoteCause>& remote = std::nullopt);

}  // namespace ddprun::report
