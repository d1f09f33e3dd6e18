// The time limits of a group that runs undisturbed: --timeout, --exit-grace, --progress-timeout.
//
// Pure: times are arguments. Used by Group, which stops the workers when a limit has passed.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "launcher/supervise/outcome.h"

namespace ddprun::supervise {

// A limit that is not set never passes, and neither does one of more than a year.
struct LimitOptions {
  Time job_started{};
  std::optional<std::chrono::nanoseconds> timeout;     // from job_started
  std::optional<std::chrono::nanoseconds> exit_grace;  // from the first worker's end with 0
  // From a worker's last report of progress. A worker that has never reported any has no limit.
  std::optional<std::chrono::nanoseconds> progress_timeout;
};

// `from` + `span`; none without a span, or with one of more than a year.
std::optional<Time> deadline(Time from, std::optional<std::chrono::nanoseconds> span);

class Limits {
 public:
  Limits(int workers, const LimitOptions& options);

  void on_ended(Time now, int local_rank, bool success);
  void on_progress(Time now, int local_rank);
  // It will report no more and has no limit any longer.
  void on_progress_closed(int local_rank);
  // The job had been suspended: nobody could report progress until now.
  void on_resumed(Time now);

  // No limit passes before this; none when none will pass without a further event.
  std::optional<Time> next() const;

  // A limit that has passed.
  struct Passed {
    Cause cause = Cause::timeout;
    std::optional<int> local_rank;  // the silent worker, with progress_timeout
    std::chrono::nanoseconds limit{};
    std::vector<int> silent_too = {};  // others that fell silent within a second after it
  };
  std::optional<Passed> passed(Time now);

 private:
  std::optional<Passed> silent_worker(Time now);

  LimitOptions options_;
  std::optional<Time> timeout_at_;
  std::optional<Time> exit_grace_at_;
  std::optional<Time> look_at_progress_;            // not later than the first worker's limit
  std::vector<std::optional<Time>> last_progress_;  // by local rank
};

}  // namespace ddprun::supervise
