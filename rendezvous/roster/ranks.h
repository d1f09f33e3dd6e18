// Which nodes are in the next round, and in which order.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ddprun::roster {

struct Candidate {
  std::string node;
  std::optional<int> wanted;    // --node-rank
  std::optional<int> previous;  // its node rank in the last round
  bool hosts_server = false;
};

// Indices of `candidates`, by node rank: min(nodes, candidates) of them. `candidates` are in the
// order of their arrival.
//
// Those of the last round are in the next one before newcomers, and newcomers by arrival. A wanted
// rank is given; then the node that hosts the server gets rank 0, survivors keep theirs, and the
// rest fills the gaps: survivors by their old rank, newcomers by natural order of names. A rank
// that the world is too small for counts as a wish to stand behind the others.
std::vector<std::size_t> node_order(const std::vector<Candidate>& candidates, std::size_t nodes);

}  // namespace ddprun::roster
