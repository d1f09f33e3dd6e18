// Many ranks and agents of imaginary jobs at a real rdzvd on this machine.
#pragma once

#include <string>

#include "tests/bench/scaling/model.h"

namespace ddprun::bench::scaling {

// The programs that take part.
struct Programs {
  std::string rdzvd, store_clients, store_load, agents;
};

struct Measured {
  double wall = 0;    // ms
  double cpu = 0;     // ms of the server
  double memory = 0;  // bytes of the server for each connection
  double wire = 0;    // bytes of the loopback interface for each connection
};

// Medians of `rounds`. `at_once`: see store_clients. All throw std::runtime_error when something
// fails.
Measured storm(const Programs& programs, int ranks, int rounds, int at_once = 2000);
Measured join(const Programs& programs, int agents, int rounds);
// Of a failure when all have joined; its cpu and wire are those of the join as well.
Measured failure(const Programs& programs, int agents, int rounds);

// What the model needs, from jobs of 500 to 2,000 connections.
Costs measure(const Programs& programs, int rounds);

}  // namespace ddprun::bench::scaling
