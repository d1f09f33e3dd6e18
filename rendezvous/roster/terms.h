// What all nodes of a run must agree on, and whether a node does.
#pragma once

#include <optional>
#include <string>

#include "rendezvous/protocol/run_record.h"
#include "rendezvous/roster/types.h"

namespace ddprun::roster {

using protocol::Terms;

Terms terms_of(const Join& first, const Server& server);

// Why `join` cannot be a node of the run, with both values and both nodes; nothing if it can. Looks
// at the node alone, too: a wanted node rank must be below the number of nodes. A duplicate node
// rank is not for this to see.
std::optional<std::string> conflict(const Terms& terms, const Join& join);

// Whether two versions of ddprun ("0.1.0") work together: the same major number, and before 1.0 the
// same minor number. What is no version is compatible with itself only.
bool compatible(const std::string& a, const std::string& b);

}  // namespace ddprun::roster
