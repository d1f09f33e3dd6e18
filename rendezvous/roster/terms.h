// What all nodes of a run must agree on, and what they should.
#pragma once

#include <optional>
#include <string>

#include "rendezvous/roster/types.h"

namespace ddprun::roster {

// As the run's first node said it.
struct Terms {
  std::string run;
  std::string node;  // who said it
  int pid = 0;       // of that ddprun
  std::string version;
  int min_nodes = 1;
  int max_nodes = 1;
  int max_restarts = 0;
  bool static_ranks = false;
  bool grow = true;
  nanoseconds join_timeout{};
  nanoseconds last_call_timeout{};
  nanoseconds reconnect_timeout{};
  nanoseconds ping_interval{};
  int ping_attempts = 3;
};

Terms terms_of(const Join& first, const Server& server);

// Why `join` cannot be a node of the run, with both values and both nodes; nothing if it can. Looks
// at the node alone, too: a wanted node rank must be below the number of nodes. A duplicate node
// rank is not for this to see.
std::optional<std::string> conflict(const Terms& terms, const Join& join);

// Whether two versions of ddprun ("0.1.0") work together: the same major number, and before 1.0 the
// same minor number. What is no version is compatible with itself only.
bool compatible(const std::string& a, const std::string& b);

}  // namespace ddprun::roster
