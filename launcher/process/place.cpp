#include "launcher/process/place.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace ddprun::process {
namespace {

// <linux/mempolicy.h>, which knows the second one from Linux 5.15 on.
constexpr int kPreferred = 1;
constexpr int kPreferredMany = 5;

bool prefer(int policy, const std::vector<unsigned long>& nodes) {
  // The kernel reads one bit less than it is told.
  const unsigned long bits = nodes.size() * 8 * sizeof(unsigned long) + 1;
  return ::syscall(SYS_set_mempolicy, policy, nodes.data(), bits) == 0;
}

}  // namespace

PlacementErrors place_this_thread(const Placement& placement) {
  PlacementErrors errors;
  if (!placement.cpus.empty() &&
      ::syscall(SYS_sched_setaffinity, 0, placement.cpus.size() * sizeof(unsigned long),
                placement.cpus.data()) < 0)
    errors.affinity = errno;
  if (placement.nodes.empty() || prefer(kPreferredMany, placement.nodes)) return errors;
  // An older kernel prefers one node, the first of them.
  if (errno != EINVAL || !prefer(kPreferred, placement.nodes)) errors.memory = errno;
  return errors;
}

}  // namespace ddprun::process
