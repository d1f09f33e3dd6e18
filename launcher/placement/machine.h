// What --bind has to know about the machine. Asked for only when --bind is given.
#pragma once

#include <optional>
#include <string>

#include "launcher/placement/topology.h"
#include "rendezvous/base/result.h"

namespace ddprun::placement {

// The topology, read through the hwloc module. `module_file` is the module's path; empty: it is
// looked for beside the running program, in ../lib and in ../lib/ddprun. The error says where it
// was looked for, or what hwloc said.
Result<Topology> read_topology(const std::string& module_file);

// The NUMA node next to a PCI device ("0000:c1:00.0"), from SYSFS/bus/pci/devices/ADDRESS; none
// where the kernel does not know it (it writes -1) or there is no such device.
std::optional<int> node_of_device(const std::string& pci_address, const std::string& sysfs);

}  // namespace ddprun::placement
