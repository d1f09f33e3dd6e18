#include "launcher/supervise/restart.h"

#include <algorithm>

namespace ddprun::supervise {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr seconds kQuick{1};
constexpr seconds kLongestPause{30};

int quick_failures_in_a_row(const std::vector<Attempt>& attempts) {
  const auto slow = std::find_if(attempts.rbegin(), attempts.rend(),
                                 [](const Attempt& attempt) { return attempt.ran > kQuick; });
  return static_cast<int>(slow - attempts.rbegin());
}

nanoseconds pause_after(int quick_failures, nanoseconds backoff) {
  nanoseconds pause = quick_failures < 2 ? nanoseconds{0} : backoff;
  const nanoseconds longest = std::max<nanoseconds>(kLongestPause, backoff);
  for (int i = 2; i < quick_failures && pause < longest; ++i) pause = std::min(pause * 2, longest);
  return pause;
}

}  // namespace

std::optional<Attempt> failed_attempt(int number, const Outcome& outcome) {
  const bool worker_failed =
      outcome.cause == Cause::worker_failed || outcome.cause == Cause::progress_timeout;
  const bool somebody_runs = std::ranges::any_of(outcome.workers, [](const WorkerEnd& worker) {
    return worker.ending == Ending::still_running;
  });
  if (!worker_failed || somebody_runs || !outcome.first_failed) return {};
  const auto& worker = outcome.workers.at(static_cast<std::size_t>(*outcome.first_failed));
  return Attempt{.number = number,
                 .cause = outcome.cause,
                 .first_failed = *outcome.first_failed,
                 .status = worker.status,
                 .ran = outcome.stopping_since - worker.started,
                 .limit = outcome.limit};
}

RestartDecision decide_restart(const std::vector<Attempt>& attempts,
                               const RestartOptions& options) {
  if (static_cast<int>(attempts.size()) > options.max_restarts)
    return {.reason =
                options.max_restarts == 0 ? "restarts were not asked for" : "no restart is left"};
  const int quick = quick_failures_in_a_row(attempts);
  const nanoseconds pause = pause_after(quick, options.backoff);
  if (pause == pause.zero()) return {.restart = true};
  return {.restart = true,
          .pause = pause,
          .reason = "failed within a second " + std::to_string(quick) + " times in a row"};
}

Outcome interrupted(Outcome last, const Interruption& interruption) {
  for (WorkerEnd& worker : last.workers)
    if (worker.ending == Ending::failed_first)
      worker.ending = worker.last_signal == 0 ? Ending::failed_after : Ending::stopped;
  last.cause = interruption.cause;
  last.stop_signal = interruption.stop_signal;
  last.limit = interruption.limit;
  last.first_failed.reset();
  return last;
}

}  // namespace ddprun::supervise
