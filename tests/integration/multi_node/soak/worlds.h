// What the workers saw: each writes one line when it has met all others in the store of its round.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/integration/multi_node/soak/scenario.h"

namespace ddprun::nodes_soak {

// A line is "TOKEN WORLD RANK LOCAL_RANK NODE RESTARTS PID". The token is the same for all who met,
// and another one in each round.
struct Met {
  std::string token;
  int world = 0;
  int rank = 0;
  int local_rank = 0;
  int node = 0;
  int restarts = 0;
  pid_t pid = 0;
};

std::vector<Met> parse(const std::string& lines);

// Those of the last world.
std::vector<Met> last_world(const std::vector<Met>& all);
// All ranks of the last world have met.
bool is_complete(const std::vector<Met>& all);

// What is wrong with the worlds; empty when nothing is: each rank is there once, on the node that
// has its neighbours, all agree on the size and on the restarts, and no more of those were spent
// than there are. With `ended_well` the last one must be complete.
std::string wrong_with_worlds(const Scenario& scenario, const std::vector<Met>& all,
                              bool ended_well);

}  // namespace ddprun::nodes_soak
