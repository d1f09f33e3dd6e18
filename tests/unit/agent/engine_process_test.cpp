// Whose end ends ddprun: only a program's by which an engine starts others, itself or by a shell.
#include "launcher/agent/engine_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <utility>

namespace ddprun::agent {
namespace {

TEST(EngineProcess, StartersAreKnownByTheirNames) {
  for (const char* name : {"slurmstepd\n", "mpirun", "mpirun.openmpi", "mpiexec.hydra", "orted",
                           "prted", "hydra_pmi_proxy"})
    EXPECT_TRUE(starts_for_an_engine(name)) << name;
  for (const char* name :
       {"", "bash\n", "sshd", "mpirun_env.sh\n", "orted2", "pbs_mom", "slurmd", "tmux: server"})
    EXPECT_FALSE(starts_for_an_engine(name)) << name;
}

// A process called `name`; below it a shell, which tells its own pid and waits.
struct Chain {
  explicit Chain(const char* name) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    starter = ::fork();
    if (starter == 0) {
      ::prctl(PR_SET_NAME, name);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const pid_t below = ::fork();
      if (below == 0) {
        const pid_t self = ::getpid();
        ::prctl(PR_SET_NAME, "bash");
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)!::write(ends[1], &self, sizeof self);
      }
      for (;;) ::pause();
    }
    EXPECT_EQ(::read(ends[0], &shell, sizeof shell), static_cast<ssize_t>(sizeof shell));
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~Chain() { kill(); }
  void kill() {
    if (starter == 0) return;
    ::kill(starter, SIGKILL);
    ::waitpid(std::exchange(starter, 0), nullptr, 0);
  }

  pid_t starter = 0;
  pid_t shell = 0;
};

TEST(EngineProcess, TheStarterAboveAShellIsFound) {
  const Chain chain("mpirun");
  EXPECT_EQ(engine_of(chain.shell), chain.starter);
  EXPECT_EQ(engine_of(chain.starter), chain.starter);
}

TEST(EngineProcess, ItsEndIsToldThoughTheShellIsTheParent) {
  boost::asio::io_context io;
  Chain chain("mpirun");
  std::string ended;
  const EngineProcess engine(io, chain.shell, [&](const std::string& what) { ended = what; });
  chain.kill();
  io.run_for(std::chrono::seconds(10));
  EXPECT_NE(ended.find("(pid "), std::string::npos);
}

TEST(EngineProcess, ShellsAloneAreNoEngine) {
  if (engine_of(::getpid()) != 0) GTEST_SKIP() << "an engine has started this test";
  const Chain chain("sshd");
  EXPECT_EQ(engine_of(chain.shell), 0);
}

TEST(EngineProcess, AnotherParentIsNotWatched) {
  if (engine_of(::getpid()) != 0) GTEST_SKIP() << "an engine has started this test";
  boost::asio::io_context io;
  const EngineProcess engine(io, ::getpid(), [](const std::string& what) { FAIL() << what; });
  EXPECT_EQ(io.run(), 0u) << "nothing to wait for";
}

}  // namespace
}  // namespace ddprun::agent
