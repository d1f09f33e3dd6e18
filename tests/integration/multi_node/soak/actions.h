// What the soak does at which moment: the faults of a round and what makes up for them, in the
// order of time. Pure.
#pragma once

#include <vector>

#include "tests/integration/multi_node/soak/scenario.h"

namespace ddprun::nodes_soak {

enum class Act {
  begin,    // the fault
  end,      // what lasted is over: continue, heal, start the daemon or the node again
  release,  // the workers end with 0
};

struct Action {
  microseconds at{0};  // since the first one could have come
  Act act = Act::begin;
  std::size_t fault = 0;  // its index; not with release
};

std::vector<Action> actions_of(const Scenario& scenario);

}  // namespace ddprun::nodes_soak
