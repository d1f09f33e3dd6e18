// What Slurm says of one of its nodes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ddprun::cluster {

// The value of NodeAddr in what `scontrol show node` prints: an address, or a name. None where
// there is none.
std::optional<std::string> node_address(std::string_view text);

// scontrol, which has failed with these words, knows that there is no such node; a controller that
// cannot be reached has others.
bool is_no_such_node(std::string_view text);

// The address of `node` in SLURM_NODE_ALIASES, "ec0:10.0.0.1:foo,ec1:[fd00::2]:bar", which Slurm
// sets for nodes of a cloud; an IPv6 address comes without its brackets. None where it is not
// there.
std::optional<std::string> alias_address(std::string_view aliases, std::string_view node);

}  // namespace ddprun::cluster
