// One machine of a job that ddprun starts itself on several, as the user names it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ddprun::hosts {

struct Host {
  std::string name;                   // a name or an address, IPv6 without brackets
  std::string user = {};              // empty: whom the remote shell takes
  std::optional<std::uint16_t> port;  // of the remote shell; none: its own choice
  std::optional<int> slots = {};      // workers there; none: what --nproc-per-node says of each

  friend bool operator==(const Host&, const Host&) = default;
};

// A host and its place in the whole list, which is its node rank.
struct Node {
  int index = 0;
  Host host;

  friend bool operator==(const Node&, const Node&) = default;
};

}  // namespace ddprun::hosts
