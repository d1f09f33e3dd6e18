// Launchers of others that start processes on one machine as ddprun does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/bench/setup.h"

namespace ddprun::bench {

struct PeerLauncher {
  std::string name;
  std::string missing;  // why it cannot be measured; empty: it can
  // Ready for a program, of which it starts so many processes. May take a while.
  std::function<Words(int processes)> command;
};

// Hydra, Open MPI and Slurm. A Slurm of one node starts with the first command of its launcher,
// lives as long as a copy of that, and is then the one that SLURM_CONF names.
std::vector<PeerLauncher> peer_launchers();

// torchrun of each Python that has one, by version; one that is missing if there is none.
std::vector<PeerLauncher> torchruns(const Setup& setup);

}  // namespace ddprun::bench
