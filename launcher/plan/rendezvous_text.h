// How the nodes will meet, for --dry-run.
#pragma once

#include <string>
#include <string_view>

#include "launcher/cli/rendezvous_spec.h"

namespace ddprun::plan {

// What was understood and where each value comes from, a line for each, with its final newline;
// empty for one node.
std::string rendezvous_text(const cli::RendezvousSpec& spec);

// Whether the rendezvous of several nodes gives this variable of a worker its value, so that
// nothing is known of it before: RANK, WORLD_SIZE, MASTER_ADDR and the like.
bool given_by_rendezvous(std::string_view variable);

}  // namespace ddprun::plan
