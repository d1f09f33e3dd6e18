// What a job of many ranks costs its servers, computed from what a small one was measured to cost.
// Pure.
//
// One rank is one connection to the job's store; one agent, of one node, is one connection to the
// roster's server. Both servers have one thread. docs/scaling.md explains the formulas.
#pragma once

#include <string>
#include <string_view>

#include "rendezvous/base/result.h"

namespace ddprun::bench::scaling {

// A cost that grows with the logarithm of the number of connections, because caches are missed
// more often: `at_1000` and so much more with each tenfold.
struct Growing {
  double at_1000 = 0;
  double tenfold = 0;

  // Through two measured values.
  static Growing through(double count, double cost, double other_count, double other_cost);
  double at(double count) const;
};

// Of one connection; times are microseconds.
struct Costs {
  Growing rank_cpu;          // of the store's server: connect, PING, ADD, SET and ADD, WAIT, GET
  Growing rank_wall;         // of the simulation on one machine, its clients included
  double rank_memory = 0;    // bytes in the store's server
  double rank_wire = 0;      // bytes on the wire, both directions, headers included
  double operation_cpu = 0;  // of one more request on a connection that is there
  double agent_cpu = 0;      // of the roster's server: join and be welcomed
  double entry_cpu = 0;      // of sending one entry of the assignment to one agent
  double agent_wire = 0;     // bytes, without the assignment
  double entry_wire = 0;     // bytes of one entry of the assignment
  Growing failure;           // Stop, sign of life and Restart of one agent, until all have them
};

// As one line of words NAME=VALUE, which parse_costs reads.
std::string to_text(const Costs& costs);
Result<Costs> parse_costs(std::string_view text);

struct Cluster {
  double ranks_per_node = 8;
  double round_trip_us = 200;  // between two nodes
  double gigabits = 10;        // of the servers' network interface
  double accept_queue = 4096;  // net.core.somaxconn
};

// Milliseconds, unless it says otherwise.
struct Prediction {
  double ranks = 0;
  double nodes = 0;
  double store_cpu = 0;   // the store's server computes
  double store_wire = 0;  // its bytes pass
  double store = 0;       // until the last rank has all: whichever takes longer, and round trips
  double store_megabytes = 0;
  double behind_queue = 0;  // ranks beyond the accept queue if all connect in the same moment
  double join = 0;          // from the last agent's Join until all have the assignment
  double join_wire_megabytes = 0;
  double failure = 0;  // from Failed until all agents have heard what follows
  // The same with a proxy of the store in each node's agent.
  double proxied_store = 0;
};
Prediction predict(const Costs& costs, const Cluster& cluster, double ranks);

// What the simulation on one machine takes: milliseconds of time, of rank_wall, and of the server's
// CPU. The clients' clock starts later than that of the CPU, so the time may be a little less.
struct Simulated {
  double wall = 0;
  double cpu = 0;
};
Simulated predict_storm(const Costs& costs, double ranks);
// Milliseconds until all of so many agents have heard of a failure, as in the simulation.
double predict_failure(const Costs& costs, double agents);
// CPU of the roster's server for so many agents.
double predict_join_cpu(const Costs& costs, double agents);

}  // namespace ddprun::bench::scaling
