// Children that are started on some CPUs only.
#include "launcher/process/place.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "launcher/process/spawn.h"
#include "launcher/process/wait.h"

namespace ddprun::process {
namespace {

// The last CPU that this process may use; the child's exit code tells whether it has just that one.
int last_cpu() {
  cpu_set_t mask;
  EXPECT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  int last = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &mask)) last = cpu;
  return last;
}

std::vector<unsigned long> bit(int number) {
  std::vector<unsigned long> words(static_cast<std::size_t>(number / 64) + 1);
  words.back() = 1UL << (number % 64);
  return words;
}

class PlaceTest : public testing::Test {
 protected:
  struct End {
    int code = -1;
    PlacementErrors errors;
  };
  End run(const std::string& script, const Placement* placement) {
    const SpawnRequest request{.path = "/bin/sh",
                               .argv = {"sh", "-c", script},
                               .env = {"PATH=/usr/bin:/bin"},
                               .in = null_.get(),
                               .out = null_.get(),
                               .err = STDERR_FILENO,
                               .placement = placement};
    const auto child = spawn(request, {.launcher = ::getpid()});
    if (!child) return {};
    pollfd ended{child->pidfd.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&ended, 1, 10'000), 1) << "the child did not end in 10 s";
    const auto status = reap(child->pidfd.get());
    return {status ? status->value : -1, child->placement_errors};
  }

  UniqueFd null_{::open("/dev/null", O_RDWR | O_CLOEXEC)};
};

std::string may_run_on(const std::string& cpus) {
  return "grep -q '^Cpus_allowed_list:\t" + cpus + "$' /proc/self/status";
}

TEST_F(PlaceTest, AChildRunsOnTheCpusThatItWasGiven) {
  const int cpu = last_cpu();
  const Placement placement{.cpus = bit(cpu)};
  const End end = run(may_run_on(std::to_string(cpu)), &placement);
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.errors.affinity, 0);
  EXPECT_EQ(end.errors.memory, 0);
}

TEST_F(PlaceTest, TheLauncherStaysWhereItIs) {
  cpu_set_t before;
  cpu_set_t after;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const Placement placement{.cpus = bit(last_cpu())};
  run("true", &placement);
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST_F(PlaceTest, ARefusalIsReportedAndTheChildRuns) {
  // No machine of the tests has this many CPUs or nodes.
  const Placement placement{.cpus = bit(1000), .nodes = bit(63)};
  const End end = run("exit 7", &placement);
  EXPECT_EQ(end.code, 7);
  EXPECT_EQ(end.errors.affinity, EINVAL);
  EXPECT_NE(end.errors.memory, 0);
}

TEST_F(PlaceTest, MemoryIsPreferredOnANode) {
  if (::access("/proc/self/numa_maps", R_OK) != 0) GTEST_SKIP() << "a kernel without NUMA";
  const Placement placement{.nodes = bit(0)};
  const End end = run("grep -q prefer /proc/self/numa_maps", &placement);
  if (end.errors.memory == EPERM || end.errors.memory == ENOSYS)
    GTEST_SKIP() << "set_mempolicy is not allowed here";
  EXPECT_EQ(end.errors.memory, 0);
  EXPECT_EQ(end.code, 0);
}

TEST_F(PlaceTest, WithoutAPlacementNothingChanges) {
  const End end =
      run("test \"$(grep ^Cpus_allowed: /proc/self/status)\" = \"$(grep ^Cpus_allowed: "
          "/proc/$PPID/status)\"",
          nullptr);
  EXPECT_EQ(end.code, 0);
}

}  // namespace
}  // namespace ddprun::process
