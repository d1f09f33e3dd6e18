// Failures on several nodes, for the groups fail and restart.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/measurement.h"
#include "tests/bench/setup.h"

namespace ddprun::bench {

// From the death of a worker on one of two nodes to the end of the other node's ddprun; beside the
// row `peer`.
std::vector<Probe> death_on_two_nodes(const Setup& setup, const std::string& peer);
// From the loss of a node to the last worker of the next round.
std::vector<Probe> lost_node(const Setup& setup, const std::string& peer);

}  // namespace ddprun::bench
