// Whether the kernel has killed a process for lack of memory: the counters of this process's
// cgroup.
//
// A worker that died by SIGKILL may have been killed by anybody. That it was the kernel is said
// only when the counter `oom_kill` of the cgroup rose while the workers ran.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddprun::report {

// What the counters have proven.
struct OutOfMemory {
  std::uint64_t kills = 0;             // processes killed since the start; at least 1
  std::optional<std::uint64_t> limit;  // bytes, the lowest one that holds; none: no cgroup has one
};

// "killed by the kernel: out of memory, cgroup limit 2 GiB".
std::string describe(const OutOfMemory& found);

// "2 GiB", "1.5 MiB", "512 bytes".
std::string size_text(std::uint64_t bytes);

// Pure readers. The line "oom_kill N" of memory.events (v2) or memory.oom_control (v1); none where
// there is none.
std::optional<std::uint64_t> oom_kills(std::string_view text);
// memory.max or memory.limit_in_bytes; none for "max", for v1's huge number and for what is no
// number.
std::optional<std::uint64_t> memory_limit(std::string_view text);

// The memory cgroup of a process: its own folder first, then those above it, as far as they can be
// seen below `root`.
struct MemoryCgroup {
  bool v2 = true;
  std::vector<std::string> folders;  // names below the root of the hierarchy: "/a/b", "/a", ""
};
// From the text of /proc/self/cgroup: the v1 hierarchy of the memory controller and that of v2,
// each only if it is named there.
std::vector<MemoryCgroup> memory_cgroups(std::string_view proc_self_cgroup);

// The counter as it was before the workers, compared with what it is later.
class OomCounter {
 public:
  // Reads the counter now: two small files. `root` is /sys/fs/cgroup, or a folder that stands for
  // it. A machine without such a counter is no error: then nothing is ever proven.
  OomCounter(const std::string& root, std::string_view proc_self_cgroup);

  // Reads it again; none when it has not risen since the start.
  std::optional<OutOfMemory> risen() const;

 private:
  std::vector<std::string> folders_;  // own group first; empty: no counter
  bool v2_ = true;
  std::uint64_t before_ = 0;
};

}  // namespace ddprun::report
