#include "launcher/doctor/findings.h"
#include "launcher/report/out_of_memory.h"

namespace ddprun::doctor {
namespace {

using report::size_text;

constexpr unsigned long long kMebi = 1ULL << 20;
constexpr unsigned long long kEnoughFiles = 4096;         // 3 for each of 1,000 workers, and more
constexpr unsigned long long kEnoughProcesses = 1024;     // a worker has dozens of threads
constexpr unsigned long long kEnoughLocked = 64 * kMebi;  // for the buffers of one adapter
constexpr unsigned long long kEnoughShared = 64 * kMebi;  // what containers have by default
constexpr unsigned long long kEnoughTemporary = 16 * kMebi;
constexpr unsigned long long kEnoughMemory = 512 * kMebi;  // for one worker with PyTorch
constexpr unsigned long long kNoLimit = ~0ULL;

std::string count_or_none(unsigned long long limit) {
  return limit == kNoLimit ? "no limit" : std::to_string(limit);
}

Finding cpus(const Facts& facts) {
  const std::string mask = plural(static_cast<std::size_t>(facts.affinity_cpus), "CPU") +
                           " allowed (" + facts.cpus + ")";
  if (facts.allowed_cpus >= facts.affinity_cpus) return {Verdict::ok, "CPUs", mask, ""};
  return {Verdict::warn, "CPUs",
          mask + ", but the cgroup's quota is worth " + std::to_string(facts.allowed_cpus),
          "workers are slowed down when they use more; -n cpu and --threads auto count the quota"};
}

// What is left before the kernel begins to kill.
std::optional<unsigned long long> free_memory(const Facts& facts) {
  std::optional<unsigned long long> least = facts.memory_available;
  const Amount& group = facts.cgroup_memory;
  if (group.limit && group.used) {
    const auto left = *group.limit > *group.used ? *group.limit - *group.used : 0;
    if (!least || left < *least) least = left;
  }
  return least;
}

Finding memory(const Facts& facts) {
  std::string text = size_text(facts.memory);
  if (facts.memory_available) text += ", " + size_text(*facts.memory_available) + " available";
  if (facts.cgroup_memory.limit) {
    text += "; the cgroup's limit is " + size_text(*facts.cgroup_memory.limit);
    if (facts.cgroup_memory.used) text += ", " + size_text(*facts.cgroup_memory.used) + " used";
  }
  const auto left = free_memory(facts);
  if (!left || *left >= kEnoughMemory) return {Verdict::ok, "memory", text, ""};
  return {Verdict::warn, "memory", text,
          "a worker with PyTorch needs half a GiB; the kernel kills when nothing is left (137)"};
}

Finding open_files(const Facts& facts) {
  const std::string text =
      count_or_none(facts.open_files_soft) + ", at most " + count_or_none(facts.open_files_hard);
  if (facts.open_files_hard >= kEnoughFiles) return {Verdict::ok, "open files", text, ""};
  return {Verdict::warn, "open files", text,
          "ddprun needs 3 for each worker and programs need many; raise it (ulimit -Hn)"};
}

Finding processes(const Facts& facts) {
  std::string text = facts.is_root ? "no limit for root" : count_or_none(facts.processes_soft);
  const Amount& group = facts.cgroup_processes;
  if (group.limit) {
    text += "; the cgroup's limit is " + std::to_string(*group.limit);
    if (group.used) text += ", " + std::to_string(*group.used) + " used";
  }
  if (!facts.is_root && facts.processes_soft < kEnoughProcesses)
    return {Verdict::warn, "processes", text,
            "threads count too, and a worker has dozens; raise it (ulimit -u)"};
  if (group.limit && *group.limit < group.used.value_or(0) + kEnoughProcesses)
    return {Verdict::warn, "processes", text,
            "threads count too, and a worker has dozens; raise pids.max (TasksMax, --pids-limit)"};
  return {Verdict::ok, "processes", text, ""};
}

// InfiniBand's buffers must not be swapped.
Finding locked_memory(const Facts& facts) {
  std::string text =
      facts.locked_memory == kNoLimit ? "no limit" : size_text(facts.locked_memory) + " at most";
  if (facts.infiniband.empty()) return {Verdict::ok, "locked memory", text, ""};
  text += "; InfiniBand: " + joined(facts.infiniband);
  if (facts.locked_memory >= kEnoughLocked) return {Verdict::ok, "locked memory", text, ""};
  return {Verdict::warn, "locked memory", text,
          "NCCL cannot use InfiniBand; set ulimit -l unlimited (Slurm: PropagateResourceLimits)"};
}

Finding folder(const Folder& found, const std::string& subject, unsigned long long enough,
               Verdict not_writable, const std::string& use) {
  if (found.timed_out)
    return {Verdict::problem, subject, found.path + ": its file system does not answer", use};
  if (!found.writable) return {not_writable, subject, found.path + " cannot be written to", use};
  std::string text = found.path;
  if (found.free_bytes) text += ", " + size_text(*found.free_bytes) + " free";
  if (found.free_bytes && *found.free_bytes < enough) return {Verdict::warn, subject, text, use};
  return {Verdict::ok, subject, text, ""};
}

Finding core_dumps(const Facts& facts) {
  const std::string where = facts.core_pattern.empty() ? "unknown" : facts.core_pattern;
  const bool piped = where.starts_with('|');
  if (facts.core_limit == 0 && !piped)
    return {Verdict::ok, "core dumps", "off (ulimit -c is 0), pattern " + where, ""};
  return {Verdict::ok, "core dumps", "on, pattern " + where, ""};
}

Finding clock(const Facts& facts) {
  if (facts.clock_synchronized) return {Verdict::ok, "clock", "synchronized", ""};
  return {Verdict::warn, "clock", "the kernel does not know whether it is right",
          "logs of several nodes are hard to compare; run chrony or systemd-timesyncd"};
}

}  // namespace

std::vector<Finding> about_machine(const Facts& facts) {
  return {cpus(facts),
          memory(facts),
          open_files(facts),
          processes(facts),
          locked_memory(facts),
          folder(facts.shared_memory, "shared memory", kEnoughShared, Verdict::warn,
                 "NCCL and data loaders use it; in a container raise --shm-size"),
          folder(facts.temporary, "TMPDIR", kEnoughTemporary, Verdict::problem,
                 "the run's directory is made there; set TMPDIR or --log-dir"),
          core_dumps(facts),
          clock(facts)};
}

}  // namespace ddprun::doctor
