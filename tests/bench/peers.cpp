#include "tests/bench/peers.h"

#include <stdlib.h>

#include <chrono>
#include <memory>
#include <utility>

#include "tests/integration/slurm/cluster.h"
#include "tests/support/mpi_launchers.h"

namespace ddprun::bench {
namespace {

PeerLauncher mpi(const test::MpiLauncher& launcher) {
  const Words words = Words{launcher.program} + launcher.options;
  return {launcher.name == "OpenMpi" ? "Open MPI" : launcher.name, launcher.why_not(),
          [words](int processes) {
            return words + Words{"-np", std::to_string(processes)};
          }};
}

// A node with more CPUs than the bench asks for, so that no process waits for another to end.
const test::SlurmOptions kOneNode{.nodes = 1, .cpus = 2'048, .life = std::chrono::hours(6)};

PeerLauncher slurm() {
  return {"srun", test::SlurmCluster::why_not(),
          [cluster = std::make_shared<std::unique_ptr<test::SlurmCluster>>()](int processes) {
            if (!*cluster) {
              *cluster = std::make_unique<test::SlurmCluster>(kOneNode);
              ::setenv("SLURM_CONF", (*cluster)->configuration_file().c_str(), 1);
            }
            return Words{"/usr/bin/srun", "--ntasks", std::to_string(processes)};
          }};
}

}  // namespace

std::vector<PeerLauncher> peer_launchers() {
  std::vector<PeerLauncher> launchers;
  for (const test::MpiLauncher& launcher : test::mpi_launchers())
    launchers.push_back(mpi(launcher));
  launchers.push_back(slurm());
  return launchers;
}

std::vector<PeerLauncher> torchruns(const Setup& setup) {
  std::vector<PeerLauncher> launchers;
  for (const std::string& python : {setup.python, setup.other_python}) {
    Setup with = setup;
    with.python = python;
    const std::string version = python.empty() ? "" : " " + torch_version(python);
    if (!python.empty() || launchers.empty())
      launchers.push_back({"torchrun" + version, no_torchrun(with),
                           [with](int processes) { return torchrun_words(with, processes); }});
  }
  return launchers;
}

}  // namespace ddprun::bench
