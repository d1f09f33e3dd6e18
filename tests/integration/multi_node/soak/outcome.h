// How the ddpruns of a round ended, and whether that is what had to follow from what was done.
#pragma once

#include <string>
#include <vector>

#include "tests/integration/multi_node/soak/scenario.h"
#include "tests/integration/multi_node/soak/worlds.h"

namespace ddprun::nodes_soak {

// One ddprun.
struct Life {
  int node = 0;
  bool again = false;  // it took the place of one that had ended
  bool timed_out = false;
  int code = -1;
  int signal = 0;
  std::string err;
};

struct Observation {
  std::vector<Life> lives;
  std::vector<Met> met;
  std::vector<int> ranks;  // by fault: the rank that was hit, or -1
};

// An end of the job that is told to all nodes.
struct Ending {
  int code = 0;
  std::string told;  // in what each of them writes
};

// What follows from one fault by itself; nothing when the job goes on.
std::vector<Ending> endings_of(const Scenario& scenario, const Fault& fault, int rank);

// Nothing but the rendezvous is hurt before this one of the scenario's faults, so that the first
// round still runs.
bool meets_first_round(const Scenario& scenario, const Fault& fault);

// The job may get over all that is done to it, and has to be released then. If it must not, then
// its end is awaited without.
bool may_go_on(const Scenario& scenario);

// What is wrong; empty when nothing is. Where two faults race, either may win, but all nodes that
// nothing was done to have to end in the same way, and with the same words.
std::string wrong_with(const Scenario& scenario, const Observation& seen);

}  // namespace ddprun::nodes_soak
