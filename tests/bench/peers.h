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
  // Milliseconds from before its start with so many processes of `program` until its end. Throws
  // unless it ended with 0.
  std::function<double(int processes, const Words& program)> time;
};

// Hydra, Open MPI and Slurm. A Slurm of one node starts with the first use of its launcher and
// lives as long as a copy of it.
std::vector<PeerLauncher> peer_launchers();

// torchrun of each Python that has one, by version.
std::vector<PeerLauncher> torchruns(const Setup& setup);

}  // namespace ddprun::bench
