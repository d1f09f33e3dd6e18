#include "launcher/report/attempts.h"

#include <cstdio>

#include "launcher/report/fates.h"

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

std::string attempt_line(const supervise::Attempt& attempt, const Facts& facts) {
  const auto index = static_cast<std::size_t>(attempt.first_failed);
  return "attempt " + std::to_string(attempt.number) + ": rank " +
         std::to_string(facts.plan->workers.at(index).rank) +
         " failed first: " + failure(attempt.cause, attempt.status, attempt.limit) + " after " +
         duration(attempt.ran);
}

std::vector<std::string> earlier_attempts(const Facts& facts) {
  const auto& attempts = facts.earlier_attempts;
  const std::size_t hidden = attempts.size() > kMostAttempts ? attempts.size() - kMostAttempts : 0;
  std::vector<std::string> lines;
  if (hidden > 0) lines.push_back("  " + std::to_string(hidden) + " attempts failed before these:");
  for (std::size_t i = hidden; i < attempts.size(); ++i)
    lines.push_back("  " + attempt_line(attempts[i], facts));
  return lines;
}

}  // namespace ddprun::report
