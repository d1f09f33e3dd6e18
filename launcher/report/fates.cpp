#include "launcher/report/fates.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "launcher/report/ranks.h"

namespace ddprun::report {
namespace {

using std::chrono::nanoseconds;
using supervise::Ending;
using supervise::Outcome;
using supervise::WorkerEnd;

constexpr std::size_t kMostFailures = 3;

struct Group {
  std::vector<int> ranks;
  std::vector<pid_t> pids;
  std::vector<nanoseconds> later;  // after the first failure
};

using Groups = std::map<std::string, Group>;

std::string seconds(nanoseconds time, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, std::chrono::duration<double>(time).count());
  return text;
}

// "0.03 s", for several workers "0.03 to 0.21 s".
std::string range(const std::vector<nanoseconds>& times) {
  const auto [first, last] = std::ranges::minmax(times);
  const int digits = first < std::chrono::milliseconds(10) ? 3 : 2;
  const std::string from = seconds(first, digits);
  const std::string to = seconds(last, digits);
  return from + (from == to ? "" : " to " + to) + " s";
}

std::string later(const Group& group) {
  return group.later.empty() ? "" : " " + range(group.later) + " later";
}

std::string first_pids(const Group& group) {
  std::string text;
  for (std::size_t i = 0; i < group.pids.size() && i < 4; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(group.pids[i]);
  }
  return (group.pids.size() == 1 ? "pid " : "pids ") + text + (group.pids.size() > 4 ? ", …" : "");
}

int rank_of(const WorkerEnd& worker, const Facts& facts) {
  return facts.plan->rank_of(worker.local_rank);
}

std::string how_it_failed(const WorkerEnd& worker) {
  if (!worker.status) return "failed";
  if (worker.status->kind == supervise::WaitStatus::Kind::exited) {
    return "exited " + std::to_string(worker.status->value);
  }
  return "died by " + describe(*worker.status);
}

// The members of one class, grouped by `name_of`.
template <class Name>
Groups collect(const Outcome& outcome, const Facts& facts, Ending ending, Name name_of) {
  Groups groups;
  const auto failure = failed_at(outcome);
  for (const WorkerEnd& worker : outcome.workers) {
    if (worker.ending != ending) continue;
    Group& group = groups[name_of(worker)];
    group.ranks.push_back(rank_of(worker, facts));
    group.pids.push_back(worker.pid);
    if (failure && worker.ended) group.later.push_back(*worker.ended - *failure);
  }
  return groups;
}

void add_still_running(std::vector<std::string>& phrases, const Outcome& outcome,
                       const Facts& facts) {
  const auto name = [](const WorkerEnd&) { return "could not be killed"; };
  for (const auto& [text, group] : collect(outcome, facts, Ending::still_running, name)) {
    phrases.push_back(fold_ranks(group.ranks) + " " + text + " (" + first_pids(group) + ")");
  }
}

// The fates with the most ranks by themselves, the others together.
void add_failures(std::vector<std::string>& phrases, const Outcome& outcome, const Facts& facts) {
  const Groups groups = collect(outcome, facts, Ending::failed_after, how_it_failed);
  std::vector<std::pair<std::string, Group>> sorted(groups.begin(), groups.end());
  std::ranges::stable_sort(sorted, std::greater(),
                           [](const auto& entry) { return entry.second.ranks.size(); });
  Group others;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto& [text, group] = sorted[i];
    if (i < kMostFailures) {
      phrases.push_back(fold_ranks(group.ranks) + " " + text + later(group));
    } else {
      others.ranks.insert(others.ranks.end(), group.ranks.begin(), group.ranks.end());
    }
  }
  if (others.ranks.empty()) return;
  phrases.push_back(fold_ranks(others.ranks) + " failed in " +
                    std::to_string(sorted.size() - kMostFailures) + " other ways");
}

void add_simple(std::vector<std::string>& phrases, const Outcome& outcome, const Facts& facts,
                Ending ending, const char* text) {
  const auto name = [text](const WorkerEnd&) { return text; };
  for (const auto& [fate, group] : collect(outcome, facts, ending, name)) {
    phrases.push_back(fold_ranks(group.ranks) + " " + fate);
  }
}

bool left_before(const WorkerEnd& worker, supervise::Time when) {
  return worker.ending == Ending::exited_zero && worker.ended && *worker.ended <= when;
}

// Who had left with 0 before the failure may well be its reason.
void add_exited_zero(std::vector<std::string>& phrases, const Outcome& outcome,
                     const Facts& facts) {
  const auto failed = failed_at(outcome);
  std::vector<int> early;
  std::vector<nanoseconds> earlier;
  std::vector<int> others;
  for (const WorkerEnd& worker : outcome.workers) {
    if (worker.ending != Ending::exited_zero) continue;
    if (failed && left_before(worker, *failed)) {
      early.push_back(rank_of(worker, facts));
      earlier.push_back(*failed - *worker.ended);
    } else if (outcome.cause != supervise::Cause::exit_grace ||
               !left_before(worker, outcome.stopping_since)) {
      others.push_back(rank_of(worker, facts));
    }
  }
  if (!early.empty())
    phrases.push_back(fold_ranks(early) + " had exited 0 " + range(earlier) + " earlier");
  if (!others.empty()) phrases.push_back(fold_ranks(others) + " exited 0");
}

bool was_killed(const WorkerEnd& worker) {
  return worker.last_signal == SIGKILL;
}

// The longest time from the start of the ladder to a killed worker's end.
nanoseconds time_until_killed(const Outcome& outcome) {
  nanoseconds longest{0};
  for (const WorkerEnd& worker : outcome.workers) {
    if (was_killed(worker) && worker.ended)
      longest = std::max(longest, *worker.ended - outcome.stopping_since);
  }
  return longest;
}

}  // namespace

std::optional<supervise::Time> failed_at(const Outcome& outcome) {
  if (!outcome.first_failed) return std::nullopt;
  if (outcome.cause == supervise::Cause::progress_timeout) return outcome.stopping_since;
  return outcome.workers.at(static_cast<std::size_t>(*outcome.first_failed)).ended;
}

std::string early_leavers(const Outcome& outcome, const Facts& facts) {
  std::vector<int> ranks;
  std::vector<nanoseconds> after;
  for (const WorkerEnd& worker : outcome.workers) {
    if (!left_before(worker, outcome.stopping_since)) continue;
    ranks.push_back(rank_of(worker, facts));
    after.push_back(*worker.ended - worker.started);
  }
  return ranks.empty() ? "nobody" : fold_ranks(ranks) + " exited 0 after " + range(after);
}

std::string still_running_at_limit(const Outcome& outcome, const Facts& facts) {
  std::vector<int> ranks;
  for (const WorkerEnd& worker : outcome.workers)
    if (!left_before(worker, outcome.stopping_since)) ranks.push_back(rank_of(worker, facts));
  return fold_ranks(ranks) + " still ran";
}

std::string duration(nanoseconds time) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  if (whole < 100) return seconds(time, 3) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

std::vector<std::string> fates(const Outcome& outcome, const Facts& facts) {
  std::vector<std::string> phrases;
  add_still_running(phrases, outcome, facts);
  const auto stopped = [](const WorkerEnd& worker) {
    return "stopped by ddprun" +
           (worker.last_signal > 0 ? " (" + signal_name(worker.last_signal) + ")" : "");
  };
  for (const auto& [text, group] : collect(outcome, facts, Ending::stopped, stopped)) {
    phrases.push_back(fold_ranks(group.ranks) + " " + text);
  }
  add_failures(phrases, outcome, facts);
  add_exited_zero(phrases, outcome, facts);
  add_simple(phrases, outcome, facts, Ending::not_started, "not started");
  return phrases;
}

std::vector<std::string> fates_of_stop(const Outcome& outcome, const Facts& facts) {
  std::vector<int> ended;
  std::vector<int> killed;
  for (const WorkerEnd& worker : outcome.workers) {
    const bool gone = worker.ending == Ending::stopped || worker.ending == Ending::exited_zero;
    if (gone) (was_killed(worker) ? killed : ended).push_back(rank_of(worker, facts));
  }
  std::vector<std::string> phrases;
  if (!ended.empty()) phrases.push_back(fold_ranks(ended) + " ended");
  if (!killed.empty()) {
    phrases.push_back(fold_ranks(killed) + " had to be killed (SIGKILL) after " +
                      duration(time_until_killed(outcome)));
  }
  add_failures(phrases, outcome, facts);
  add_still_running(phrases, outcome, facts);
  add_simple(phrases, outcome, facts, Ending::not_started, "not started");
  return phrases;
}

}  // namespace ddprun::report
