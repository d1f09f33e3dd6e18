// Ports of loopback for what has to come back to the same one.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace ddprun::nodes_soak {

// The one to try next, `tries` from 0 on; other processes begin elsewhere. Below what the kernel
// gives to others, who could take it between two lives.
inline std::uint16_t lasting_port(int tries) {
  constexpr int kFirstPort = 20'000;
  constexpr int kPorts = 10'000;
  return static_cast<std::uint16_t>(kFirstPort + (::getpid() * 61 + tries * 977) % kPorts);
}

}  // namespace ddprun::nodes_soak
