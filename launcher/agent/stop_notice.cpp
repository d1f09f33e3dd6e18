#include "launcher/agent/stop_notice.h"

#include <chrono>
#include <cstdio>
#include <utility>

#include "launcher/report/blame.h"
#include "launcher/report/ranks.h"
#include "launcher/report/report.h"

namespace ddprun::agent {
namespace {

constexpr std::chrono::seconds kSilence{1};

// "30 s", "0.5 s": as one writes it behind the option.
std::string seconds_text(std::chrono::milliseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", std::chrono::duration<double>(time).count());
  return text;
}

}  // namespace

std::string waiting_text(const supervise::Outcome& outcome, const plan::LaunchPlan& plan,
                         const std::vector<int>& absent, const std::vector<int>& running, int signo,
                         std::chrono::milliseconds grace) {
  std::string text = "ddprun: ";
  if (outcome.first_failed) {
    const auto& failed = outcome.workers.at(static_cast<std::size_t>(*outcome.first_failed));
    text += report::who_failed_first(plan.rank_of(failed.local_rank), absent);
    if (failed.status) text += ": " + report::describe(*failed.status);
    text += "; ";
  }
  return text + "waiting for " + report::fold_ranks(plan.ranks_of(running)) +
         ", still there after " + report::signal_name(signo) + "; SIGKILL follows " +
         seconds_text(grace) + " after it, or at once on a second stop signal";
}

void StopNotice::begin(std::function<void()> say) {
  if (std::exchange(begun_, true)) return;
  timer_.expires_after(kSilence);
  timer_.async_wait([say = std::move(say)](boost::system::error_code canceled) {
    if (!canceled) say();
  });
}

}  // namespace ddprun::agent
