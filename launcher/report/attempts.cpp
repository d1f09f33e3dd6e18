#include "launcher/report/attempts.h"

#include <cstdio>

#include "launcher/report/blame.h"
#include "launcher/report/fates.h"
#include "launcher/report/printable.h"

namespace ddprun::report {
namespace {

constexpr std::size_t kMostAttempts = 4;

}  // namespace

std::string limit_text(std::chrono::nanoseconds limit) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", std::chrono::duration<double>(limit).count());
  std::string number(text);
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number + " s";
}

std::string failure(supervise::Cause cause, const std::optional<supervise::WaitStatus>& status,
                    std::chrono::nanoseconds limit) {
  if (cause == supervise::Cause::progress_timeout)
    return "no progress for " + limit_text(limit) + " (--progress-timeout)";
  return status ? describe(*status) : "an unknown end";
}

int rank_of(const supervise::Attempt& attempt, const plan::LaunchPlan& plan) {
  return attempt.rank ? *attempt.rank : plan.rank_of(attempt.first_failed);
}

std::string attempt_line(const supervise::Attempt& attempt, const plan::LaunchPlan& plan) {
  return "attempt " + std::to_string(attempt.number) + ": " +
         who_failed_first(rank_of(attempt, plan), attempt.absent) +
         (attempt.host.empty() ? "" : " on node " + printable(attempt.host)) + ": " +
         (attempt.how.empty() ? failure(attempt.cause, attempt.status, attempt.limit)
                              : printable(attempt.how)) +
         " after " + duration(attempt.ran);
}

std::string restart_line(const supervise::Attempt& attempt, int max_restarts,
                         const supervise::RestartDecision& next, const plan::LaunchPlan& plan) {
  std::string line = "ddprun: " + attempt_line(attempt, plan) + "; restart " +
                     std::to_string(attempt.number + 1) + " of " + std::to_string(max_restarts);
  if (next.pause != next.pause.zero())
    line += " in " + limit_text(next.pause) + " (" + next.reason + ")";
  return line;
}

std::vector<std::string> earlier_attempts(const Facts& facts) {
  const auto& attempts = facts.earlier_attempts;
  const std::size_t hidden = attempts.size() > kMostAttempts ? attempts.size() - kMostAttempts : 0;
  std::vector<std::string> lines;
  if (hidden > 0) lines.push_back("  " + std::to_string(hidden) + " attempts failed before these:");
  for (std::size_t i = hidden; i < attempts.size(); ++i)
    lines.push_back("  " + attempt_line(attempts[i], *facts.plan));
  return lines;
}

}  // namespace ddprun::report
