// Whose end ends ddprun: only a program's by which an engine starts others.
#include "launcher/agent/engine_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace ddprun::agent {
namespace {

TEST(EngineProcess, StartersAreKnownByTheirNames) {
  for (const char* name : {"slurmstepd\n", "mpirun", "mpirun.openmpi", "mpiexec.hydra", "orted",
                           "prted", "hydra_pmi_proxy"})
    EXPECT_TRUE(starts_for_an_engine(name)) << name;
  for (const char* name : {"", "bash\n", "sshd", "pbs_mom", "slurmd", "tmux: server"})
    EXPECT_FALSE(starts_for_an_engine(name)) << name;
}

TEST(EngineProcess, AnotherParentIsNotWatched) {
  boost::asio::io_context io;
  const EngineProcess engine(io, ::getpid(), [](const std::string& what) { FAIL() << what; });
  EXPECT_EQ(io.run(), 0u) << "nothing to wait for";
}

}  // namespace
}  // namespace ddprun::agent
