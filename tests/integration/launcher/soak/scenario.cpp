#include "tests/integration/launcher/soak/scenario.h"

#include <signal.h>

#include <cstring>

#include "tests/support/dice.h"

namespace ddprun::soak {
namespace {

using test::Dice;

// What a worker that only fails when it is told to stop exits with.
constexpr char kRudeFate[] = "exited 5";

std::string delay(Dice& dice) {
  return std::to_string(dice.below(8000));  // microseconds
}

// Those that end early with 0 are for jobs in which something else happens later.
std::string bystander(Dice& dice, bool may_end) {
  constexpr const char* kStaying[] = {"wait",   "wait",   "wait",   "rude",
                                      "family", "daemon", "ignore", "stop"};
  if (!may_end || !dice.one_in(4)) return dice.of(kStaying);
  return (dice.one_in(3) ? "orphan:" : "end:") + delay(dice);
}

std::string failing_role(Dice& dice, Failure& failure) {
  constexpr int kSignals[] = {SIGSEGV, SIGKILL, SIGBUS, SIGFPE, SIGTERM, SIGUSR1, SIGILL};
  switch (dice.below(3)) {
    case 0:
      failure.code = 10 + dice.below(90);
      return "exit:" + std::to_string(failure.code) + ":" + delay(dice);
    case 1:
      failure.signal = dice.of(kSignals);
      return "signal:" + std::to_string(failure.signal) + ":" + delay(dice);
    default:
      failure.signal = SIGABRT;
      return "abort:" + delay(dice);
  }
}

void disturb(Scenario& scenario, Dice& dice) {
  constexpr Disturbance kAll[] = {Disturbance::stop_signal, Disturbance::stop_signal,
                                  Disturbance::kill_launcher, Disturbance::kill_guardian};
  constexpr int kStopSignals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
  scenario.disturbance = dice.of(kAll);
  // A job that nobody ends would go on after it.
  if (scenario.failure && dice.one_in(4)) scenario.disturbance = Disturbance::suspend;
  if (scenario.disturbance == Disturbance::stop_signal) scenario.signo = dice.of(kStopSignals);
  // Half of them while ddprun itself is starting.
  scenario.disturbed_after = std::chrono::microseconds(dice.below(dice.one_in(2) ? 4'000 : 20'000));
}

std::string cause_text(const Failure& failure) {
  if (failure.signal == 0) return "exit code " + std::to_string(failure.code) + " ";
  return "SIG" + std::string(::sigabbrev_np(failure.signal)) + " ";
}

std::string end_text(const End& end) {
  return end.signal != 0 ? "ended by SIG" + std::string(::sigabbrev_np(end.signal))
                         : "ended with " + std::to_string(end.code);
}

bool ended_by_disturbance(const Scenario& scenario, const End& end) {
  switch (scenario.disturbance) {
    case Disturbance::none:
    case Disturbance::suspend:
      return false;
    case Disturbance::stop_signal:
      return end.signal == scenario.signo;
    default:
      return end.signal == SIGKILL;
  }
}

std::string wrong_with_failure(Failure failure, int restarts, const End& end) {
  if (failure.signal == 0) failure.code += restarts;
  const int code = failure.signal != 0 ? 128 + failure.signal : failure.code;
  if (end.code != code) return end_text(end) + " instead of " + std::to_string(code);
  const std::string told =
      "rank " + std::to_string(failure.rank) + " failed first: " + cause_text(failure);
  if (end.err.find(told) == std::string::npos) return "it does not say '" + told + "'";
  if (end.err.find(kRudeFate) != std::string::npos)
    return std::string("it says '") + kRudeFate + "' of a worker that it had told to stop";
  return "";
}

}  // namespace

Scenario scenario_of(std::uint64_t seed) {
  Dice dice(seed);
  Scenario scenario{.seed = seed};
  const int workers = 1 + dice.below(8);
  const bool fails = !dice.one_in(6);
  if (fails) scenario.failure.emplace();
  if (!fails || dice.one_in(2)) disturb(scenario, dice);
  for (int rank = 0; rank < workers; ++rank) scenario.roles.push_back(bystander(dice, fails));
  if (!fails) return scenario;
  if (dice.one_in(4)) scenario.restarts = 1;
  scenario.failure->rank = dice.below(workers);
  scenario.roles.at(static_cast<std::size_t>(scenario.failure->rank)) =
      failing_role(dice, *scenario.failure);
  return scenario;
}

std::string describe(const Scenario& scenario) {
  std::string text = "seed " + std::to_string(scenario.seed) + ":";
  for (const std::string& role : scenario.roles) text += " " + role;
  if (scenario.restarts > 0) text += "; restarted";
  if (scenario.disturbance == Disturbance::none) return text;
  const std::string after = std::to_string(scenario.disturbed_after.count()) + " us";
  switch (scenario.disturbance) {
    case Disturbance::stop_signal:
      return text + "; SIG" + ::sigabbrev_np(scenario.signo) + " after " + after;
    case Disturbance::suspend:
      return text + "; suspended after " + after;
    case Disturbance::kill_launcher:
      return text + "; launcher killed after " + after;
    default:
      return text + "; guardian killed after " + after;
  }
}

std::vector<std::string> command_of(const Scenario& scenario, const std::string& worker) {
  std::vector<std::string> words{"-n", std::to_string(scenario.roles.size())};
  words.insert(words.end(), {"--device", "cpu", "--shutdown-timeout", "0.02"});
  if (scenario.restarts > 0)
    words.insert(words.end(), {"--max-restarts", std::to_string(scenario.restarts)});
  words.push_back(worker);
  words.insert(words.end(), scenario.roles.begin(), scenario.roles.end());
  return words;
}

std::string wrong_with(const Scenario& scenario, const End& end) {
  if (ended_by_disturbance(scenario, end)) return "";
  if (scenario.failure) return wrong_with_failure(*scenario.failure, scenario.restarts, end);
  return end_text(end) + " instead of by what was done to it";
}

}  // namespace ddprun::soak
