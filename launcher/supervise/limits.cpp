#include "launcher/supervise/limits.h"

#include <algorithm>

namespace ddprun::supervise {
namespace {

// A longer one would overflow a time point.
constexpr std::chrono::hours kNever{24 * 365};

// Where one hangs, those that wait for it report the same step about as late.
constexpr std::chrono::seconds kTogether{1};

bool has_passed(const std::optional<Time>& limit, Time now) {
  return limit && now >= *limit;
}

}  // namespace

std::optional<Time> deadline(Time from, std::optional<std::chrono::nanoseconds> span) {
  if (!span || *span >= kNever) return {};
  return from + *span;
}

Limits::Limits(int workers, const LimitOptions& options)
    : options_(options), timeout_at_(deadline(options.job_started, options.timeout)) {
  if (deadline({}, options.progress_timeout))
    last_progress_.resize(static_cast<std::size_t>(workers));
}

void Limits::on_ended(Time now, int local_rank, bool success) {
  on_progress_closed(local_rank);
  if (success && !exit_grace_at_) exit_grace_at_ = deadline(now, options_.exit_grace);
}

void Limits::on_progress(Time now, int local_rank) {
  if (last_progress_.empty()) return;
  last_progress_.at(static_cast<std::size_t>(local_rank)) = now;
  if (!look_at_progress_) look_at_progress_ = now + *options_.progress_timeout;
}

void Limits::on_progress_closed(int local_rank) {
  if (!last_progress_.empty()) last_progress_.at(static_cast<std::size_t>(local_rank)).reset();
}

void Limits::on_resumed(Time now) {
  for (auto& last : last_progress_)
    if (last) last = now;
}

std::optional<Time> Limits::next() const {
  std::optional<Time> first;
  for (const auto& limit : {timeout_at_, exit_grace_at_, look_at_progress_})
    if (limit && (!first || *limit < *first)) first = limit;
  return first;
}

std::optional<Limits::Passed> Limits::passed(Time now) {
  if (has_passed(timeout_at_, now)) return Passed{Cause::timeout, {}, *options_.timeout};
  if (has_passed(exit_grace_at_, now)) return Passed{Cause::exit_grace, {}, *options_.exit_grace};
  if (has_passed(look_at_progress_, now)) return silent_worker(now);
  return {};
}

// The one that fell silent first. If all have reported in time, finds out when to look again.
std::optional<Limits::Passed> Limits::silent_worker(Time now) {
  const auto before = [](const auto& a, const auto& b) { return a && (!b || *a < *b); };
  const auto first = std::min_element(last_progress_.begin(), last_progress_.end(), before);
  look_at_progress_.reset();
  if (!*first) return {};
  look_at_progress_ = **first + *options_.progress_timeout;
  if (now < *look_at_progress_) return {};
  Passed passed{Cause::progress_timeout, static_cast<int>(first - last_progress_.begin()),
                *options_.progress_timeout};
  for (auto each = last_progress_.begin(); each != last_progress_.end(); ++each)
    if (each != first && *each && **each <= **first + kTogether)
      passed.silent_too.push_back(static_cast<int>(each - last_progress_.begin()));
  return passed;
}

}  // namespace ddprun::supervise
