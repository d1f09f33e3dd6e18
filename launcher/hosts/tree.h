// Who starts whom, where there are more hosts than one machine should hold connections to.
//
// Pure.
#pragma once

#include <cstddef>
#include <vector>

namespace ddprun::hosts {

// Connections that one ddprun holds to others at most.
inline constexpr std::size_t kWidth = 32;

// A part of the list of hosts: [begin, end). Its first host is started, and starts the others.
struct Branch {
  std::size_t begin = 0;
  std::size_t end = 0;

  friend bool operator==(const Branch&, const Branch&) = default;
};

// Splits the hosts [begin, end) into at most `width` (1 or more) branches of sizes that differ by
// one at most, in their order.
std::vector<Branch> branches(std::size_t begin, std::size_t end, std::size_t width = kWidth);

}  // namespace ddprun::hosts
