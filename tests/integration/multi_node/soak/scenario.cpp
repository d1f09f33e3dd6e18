#include "tests/integration/multi_node/soak/scenario.h"

#include <signal.h>

#include <algorithm>
#include <cstring>

#include "tests/support/dice.h"

namespace ddprun::nodes_soak {
namespace {

using std::chrono::milliseconds;
using test::Dice;

constexpr FaultKind kWhileJoining[] = {FaultKind::launcher_killed, FaultKind::told_to_stop,
                                       FaultKind::link_cut, FaultKind::daemon_killed,
                                       FaultKind::daemon_ended};
constexpr FaultKind kWhileWorking[] = {
    FaultKind::worker_exits,    FaultKind::worker_exits,     FaultKind::worker_killed,
    FaultKind::launcher_killed, FaultKind::launcher_killed,  FaultKind::guardian_killed,
    FaultKind::told_to_stop,    FaultKind::launcher_stopped, FaultKind::link_cut,
    FaultKind::link_frozen,     FaultKind::daemon_killed,    FaultKind::daemon_ended,
    FaultKind::daemon_stopped,  FaultKind::cancelled,        FaultKind::newcomer};

microseconds span(Dice& dice, milliseconds most) {
  return microseconds(dice.below(static_cast<int>(microseconds(most).count())));
}

// Short enough to be borne, or clearly too long.
microseconds silence(Dice& dice) {
  return dice.one_in(3) ? microseconds(kPing * (kPings + 2)) : span(dice, kPing);
}

bool ends_a_node(FaultKind kind) {
  return kind == FaultKind::launcher_killed || kind == FaultKind::guardian_killed ||
         kind == FaultKind::told_to_stop;
}

void give_number(Fault& fault, Dice& dice) {
  constexpr int kDeadly[] = {SIGKILL, SIGSEGV, SIGABRT, SIGBUS, SIGTERM};
  constexpr int kStop[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
  if (fault.kind == FaultKind::worker_exits) fault.number = 20 + dice.below(70);
  if (fault.kind == FaultKind::worker_killed) fault.number = dice.of(kDeadly);
  if (fault.kind == FaultKind::told_to_stop) fault.number = dice.of(kStop);
}

void give_span(Fault& fault, Dice& dice) {
  switch (fault.kind) {
    case FaultKind::launcher_stopped:
    case FaultKind::link_frozen:
      fault.lasts = silence(dice);
      break;
    case FaultKind::link_cut:
    case FaultKind::daemon_killed:
    case FaultKind::daemon_ended:
      fault.lasts = span(dice, milliseconds(500));
      break;
    default:
      fault.lasts = span(dice, milliseconds(200));
  }
}

Fault fault_of(const Scenario& scenario, FaultKind kind, int node, Dice& dice) {
  Fault fault{.kind = kind, .node = kind == FaultKind::newcomer ? kNodes : node};
  give_number(fault, dice);
  give_span(fault, dice);
  // Half of them hard on the heels of what was before.
  fault.after = span(dice, dice.one_in(2) ? milliseconds(10) : milliseconds(300));
  const bool waited_for =
      scenario.while_joining || (scenario.restarts > 0 && scenario.min_nodes == kNodes);
  fault.comes_back = ends_a_node(kind) && (waited_for || dice.one_in(2));
  return fault;
}

bool fits(const Scenario& scenario, FaultKind kind) {
  return kind != FaultKind::newcomer || scenario.by_arrival;
}

bool is_of_link(const Fault& fault) {
  return fault.kind == FaultKind::link_cut || fault.kind == FaultKind::link_frozen;
}

const char* name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::worker_exits:
      return "a worker exits with";
    case FaultKind::worker_killed:
      return "a worker is killed by signal";
    case FaultKind::launcher_killed:
      return "launcher killed";
    case FaultKind::guardian_killed:
      return "guardian killed";
    case FaultKind::told_to_stop:
      return "told to stop by signal";
    case FaultKind::launcher_stopped:
      return "launcher stopped";
    case FaultKind::link_cut:
      return "link cut";
    case FaultKind::link_frozen:
      return "link frozen";
    case FaultKind::daemon_killed:
      return "rdzvd killed";
    case FaultKind::daemon_ended:
      return "rdzvd ended";
    case FaultKind::daemon_stopped:
      return "rdzvd stopped";
    case FaultKind::cancelled:
      return "run cancelled";
    case FaultKind::newcomer:
      break;
  }
  return "newcomer";
}

std::string ms_text(microseconds span) {
  return std::to_string(span.count() / 1000) + " ms";
}

std::string describe(const Fault& fault) {
  std::string text = "; after " + ms_text(fault.after) + " ";
  if (!is_of_daemon(fault) && fault.kind != FaultKind::cancelled)
    text += node_name(fault.node) + " ";
  text += name_of(fault.kind);
  if (fault.number != 0) text += " " + std::to_string(fault.number);
  if (fault.comes_back) return text + " and started again " + ms_text(fault.lasts) + " later";
  if (is_of_daemon(fault) || is_of_link(fault) || fault.kind == FaultKind::launcher_stopped)
    text += " for " + ms_text(fault.lasts);
  return text;
}

std::string seconds(milliseconds span) {
  return std::to_string(static_cast<double>(span.count()) / 1000);
}

std::string conf() {
  return "is_host=0,last_call_timeout=0.3,keep_alive_interval=" + seconds(kPing) +
         ",keep_alive_max_attempt=" + std::to_string(kPings) +
         ",join_timeout=" + seconds(kJoinTimeout) +
         ",reconnect_timeout=" + seconds(kReconnectTimeout);
}

}  // namespace

Scenario scenario_of(std::uint64_t seed) {
  Dice dice(seed);
  Scenario scenario{.seed = seed};
  scenario.by_arrival = dice.one_in(2);
  if (scenario.by_arrival && dice.one_in(2)) scenario.min_nodes = 2;
  scenario.workers = 1 + dice.below(2);
  scenario.restarts = dice.below(3);
  if (dice.one_in(4)) scenario.early = dice.below(kNodes);
  scenario.while_joining = dice.one_in(5);
  const int count = scenario.while_joining || dice.one_in(3) ? 1 : 2;
  // Each concerns another node, and none the one whose work is done at once if it needs a worker.
  int node = dice.below(kNodes);
  while (static_cast<int>(scenario.faults.size()) < count) {
    const FaultKind kind = scenario.while_joining ? dice.of(kWhileJoining) : dice.of(kWhileWorking);
    const bool needs_worker = kind == FaultKind::worker_exits || kind == FaultKind::worker_killed;
    node = (node + 1 + dice.below(kNodes - 1)) % kNodes;
    if ((needs_worker && node == scenario.early) || !fits(scenario, kind)) continue;
    if (!scenario.faults.empty() && node == scenario.faults.front().node) continue;
    scenario.faults.push_back(fault_of(scenario, kind, node, dice));
  }
  scenario.released_after = span(dice, milliseconds(300));
  return scenario;
}

std::string describe(const Scenario& scenario) {
  const std::string max = std::to_string(kNodes);
  std::string text = "seed " + std::to_string(scenario.seed) + ": " +
                     (scenario.by_arrival ? "by arrival, " : "static, ") +
                     (scenario.min_nodes < kNodes ? std::to_string(scenario.min_nodes) + ":" : "") +
                     max + " nodes of " + std::to_string(scenario.workers) + ", " +
                     std::to_string(scenario.restarts) + " restarts";
  if (scenario.early >= 0) text += ", " + node_name(scenario.early) + " done at once";
  if (scenario.while_joining) text += "; while joining";
  for (const Fault& fault : scenario.faults) text += describe(fault);
  return text;
}

bool is_of_daemon(const Fault& fault) {
  return fault.kind == FaultKind::daemon_killed || fault.kind == FaultKind::daemon_ended ||
         fault.kind == FaultKind::daemon_stopped;
}

bool hurts_daemon(const Scenario& scenario) {
  return std::ranges::any_of(scenario.faults, is_of_daemon);
}

bool needs_relay(const Scenario& scenario, int node) {
  return std::ranges::any_of(scenario.faults, [node](const Fault& fault) {
    return is_of_link(fault) && fault.node == node;
  });
}

bool concerns(const Fault& fault, int node) {
  return fault.node == node && !is_of_daemon(fault) && fault.kind != FaultKind::cancelled &&
         fault.kind != FaultKind::worker_exits && fault.kind != FaultKind::worker_killed;
}

bool is_long(const Fault& fault) {
  return fault.lasts > kPing * (kPings - 1);
}

std::string node_name(int node) {
  return "node" + std::to_string(node);
}

std::string run_id(const Scenario& scenario) {
  return "soak-" + std::to_string(scenario.seed);
}

std::vector<std::string> command_of(const Scenario& scenario, int node, std::uint16_t port,
                                    const std::string& worker) {
  const std::string max = std::to_string(kNodes);
  std::vector<std::string> words{"-n", std::to_string(scenario.workers), "--device", "cpu"};
  if (scenario.by_arrival) {
    const bool elastic = scenario.min_nodes < kNodes;
    words.insert(words.end(), {"--rdzv-backend", "c10d", "--nnodes",
                               elastic ? std::to_string(scenario.min_nodes) + ":" + max : max,
                               "--rdzv-endpoint", "127.0.0.1:" + std::to_string(port)});
  } else {
    words.insert(words.end(),
                 {"--nnodes", max, "--node-rank", std::to_string(node), "--master-addr",
                  "127.0.0.1", "--master-port", std::to_string(port)});
  }
  words.insert(words.end(), {"--rdzv-id", run_id(scenario), "--rdzv-conf", conf(), "--max-restarts",
                             std::to_string(scenario.restarts), "--restart-backoff", "0",
                             "--shutdown-timeout", "2", worker});
  return words;
}

}  // namespace ddprun::nodes_soak
