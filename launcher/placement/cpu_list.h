// Sets of CPU numbers, as affinity masks, sysfs and people write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ddprun::placement {

// The kernel's CPU (or NUMA node) numbers, each once, in ascending order.
using CpuList = std::vector<int>;

// "0-3,8": as sysfs and taskset write it; "" for an empty list.
std::string range_text(const CpuList& list);

// The CPUs that the calling thread may run on: the mask inherited from a scheduler, `taskset` or a
// container's cpuset. Never empty.
CpuList inherited_cpus();

// One bit for each number, in words as the kernel's system calls want them.
std::vector<unsigned long> bit_mask(const CpuList& list);

}  // namespace ddprun::placement
