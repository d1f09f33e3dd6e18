#include <algorithm>

#include "launcher/process/exit_codes.h"
#include "launcher/report/report.h"

namespace ddprun::report {
namespace {

int first_failed_code(const supervise::Outcome& outcome) {
  if (!outcome.first_failed) return process::kExitCannotWork;
  const auto& worker = outcome.workers.at(static_cast<std::size_t>(*outcome.first_failed));
  return worker.status ? worker.status->shell_code() : process::kExitCannotWork;
}

}  // namespace

ExitDecision exit_decision(const supervise::Outcome& outcome,
                           const std::optional<ExecFailure>& exec_failure,
                           const std::optional<RemoteCause>& remote) {
  const bool somebody_runs = std::ranges::any_of(outcome.workers, [](const auto& worker) {
    return worker.ending == supervise::Ending::still_running;
  });
  if (somebody_runs) return {process::kExitCannotWork};
  switch (outcome.cause) {
    case supervise::Cause::success:
      return {0};
    case supervise::Cause::worker_failed:
      return {first_failed_code(outcome)};
    case supervise::Cause::exec_failed:
      return {exec_failure ? exec_failure->code : process::kExitCannotWork};
    case supervise::Cause::stop_signal:
      return {128 + outcome.stop_signal, outcome.stop_signal};
    case supervise::Cause::progress_timeout:
    case supervise::Cause::exit_grace:
    case supervise::Cause::timeout:
      return {process::kExitTimedOut};
    case supervise::Cause::guardian_lost:
      return {process::kExitCannotWork};
    case supervise::Cause::ended_elsewhere:
      return {remote ? remote->exit_code : process::kExitCannotWork};
  }
  return {process::kExitCannotWork};
}

}  // namespace ddprun::report
