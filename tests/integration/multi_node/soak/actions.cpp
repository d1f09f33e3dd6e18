#include "tests/integration/multi_node/soak/actions.h"

#include <algorithm>

#include "tests/integration/multi_node/soak/outcome.h"

namespace ddprun::nodes_soak {
namespace {

bool has_end(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::launcher_stopped:
    case FaultKind::link_cut:
    case FaultKind::link_frozen:
    case FaultKind::daemon_killed:
    case FaultKind::daemon_ended:
    case FaultKind::daemon_stopped:
      return true;
    default:
      return fault.comes_back;
  }
}

// It needs the rendezvous, or a world that is complete again.
bool waits_for_others(const Scenario& scenario, const Fault& fault) {
  const bool of_worker =
      fault.kind == FaultKind::worker_exits || fault.kind == FaultKind::worker_killed;
  return fault.kind == FaultKind::cancelled || (of_worker && !meets_first_round(scenario, fault));
}

}  // namespace

std::vector<Action> actions_of(const Scenario& scenario) {
  std::vector<Action> all;
  microseconds last{0};
  microseconds all_over{0};
  for (std::size_t i = 0; i < scenario.faults.size(); ++i) {
    const Fault& fault = scenario.faults[i];
    last += fault.after;
    if (waits_for_others(scenario, fault)) last = std::max(last, all_over);
    all.push_back({.at = last, .act = Act::begin, .fault = i});
    if (!has_end(fault)) continue;
    all.push_back({.at = last + fault.lasts, .act = Act::end, .fault = i});
    all_over = std::max(all_over, last + fault.lasts);
  }
  // While joining it is for the whole world to come, and then it is released.
  if (may_go_on(scenario) && !scenario.while_joining)
    all.push_back({.at = last + scenario.released_after, .act = Act::release});
  std::ranges::stable_sort(all, {}, &Action::at);
  return all;
}

}  // namespace ddprun::nodes_soak
