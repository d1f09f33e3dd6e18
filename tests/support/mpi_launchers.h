// The launchers of Open MPI and of MPICH, as Debian installs them beside each other.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ddprun::test {

struct MpiLauncher {
  std::string name;  // fit for the name of a test
  std::string program;
  std::string package;               // Debian's
  std::vector<std::string> options;  // before -np and all others
  // Whether all processes may take their time when they are told to stop. Hydra kills the others
  // when the first one has ended.
  bool patient;

  // Empty when it is installed.
  std::string why_not() const {
    return std::filesystem::exists(program) ? ""
                                            : program + " is missing (Debian: " + package + ")";
  }
};

inline std::vector<MpiLauncher> mpi_launchers() {
  return {{"OpenMpi",
           "/usr/bin/mpirun.openmpi",
           "openmpi-bin",
           // Root may run more processes than there are CPUs. All of them are started by one
           // thread: with its four, from 32 processes on, Open MPI 4.1 never ends when they end at
           // once.
           {"--allow-run-as-root", "--oversubscribe", "--mca", "odls_base_cutoff", "1000000"},
           true},
          {"Hydra", "/usr/bin/mpiexec.hydra", "mpich", {}, false}};
}

}  // namespace ddprun::test
