// What this node says of itself when it joins.
#pragma once

#include <string>
#include <vector>

#include "launcher/agent/agent.h"
#include "rendezvous/protocol/roster_messages.h"

namespace ddprun::agent {

// The Join of this node, but for the store's port and what it holds. `local_address` is that of its
// connection, `reachable` are others of this machine that lead to the store as well.
protocol::Join join_of(const Job& job, const std::string& local_address,
                       const std::vector<std::string>& reachable);

// Says so where `plan` has more workers than the others of a job on several nodes can be told of.
std::string too_many_workers(const cli::JobSpec& spec, const plan::LaunchPlan& plan);

// A checksum of the file that the workers run, so that it can be said where nodes run different
// programs: its size and its first megabyte. Empty where it cannot be read.
std::string program_checksum(const std::string& path);

// The same of what follows the program in `command`.
std::string arguments_checksum(const std::vector<std::string>& command);

}  // namespace ddprun::agent
