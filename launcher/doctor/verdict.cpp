#include "launcher/doctor/verdict.h"

#include <algorithm>

#include "launcher/devices/gpu_processes.h"
#include "launcher/report/out_of_memory.h"

namespace ddprun::doctor {
namespace {

using report::size_text;

constexpr unsigned long long kMebi = 1ULL << 20;
constexpr unsigned long long kEnoughFiles = 4096;         // 3 for each of 1,000 workers, and more
constexpr unsigned long long kEnoughShared = 64 * kMebi;  // what containers have by default
constexpr unsigned long long kEnoughTemporary = 16 * kMebi;

std::string plural(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

Finding cpus(const Facts& facts) {
  const std::string mask = plural(static_cast<std::size_t>(facts.affinity_cpus), "CPU") +
                           " allowed (" + facts.cpus + ")";
  if (facts.allowed_cpus >= facts.affinity_cpus) return {Verdict::ok, "CPUs", mask, ""};
  return {Verdict::warn, "CPUs",
          mask + ", but the cgroup's quota is worth " + std::to_string(facts.allowed_cpus),
          "workers are slowed down when they use more; -n cpu and --threads auto count the quota"};
}

Finding memory(const Facts& facts) {
  std::string text = size_text(facts.memory);
  if (facts.memory_limit) text += ", the cgroup's limit is " + size_text(*facts.memory_limit);
  return {Verdict::ok, "memory", text, ""};
}

Finding gpus(const Facts& facts) {
  const devices::NodeGpus& found = facts.gpus;
  if (found.failed)
    return {Verdict::problem, "GPUs", found.remark, "nvidia-smi should list all GPUs of this node"};
  if (found.gpus.empty())
    return {Verdict::ok, "GPUs", "none (" + found.remark + "): workers run on the CPU", ""};
  std::string text = plural(found.gpus.size(), "GPU") + ": " + found.gpus.front().name;
  const auto other = std::ranges::find_if(
      found.gpus, [&](const devices::Gpu& gpu) { return gpu.name != found.gpus.front().name; });
  if (other != found.gpus.end()) text += " and others";
  for (const devices::Gpu& gpu : found.gpus)
    if (const std::string busy = devices::busy_text(gpu); !busy.empty())
      return {Verdict::warn, "GPUs", text + "; " + busy,
              "wait for it, or choose other GPUs with "
              "CUDA_VISIBLE_DEVICES"};
  return {Verdict::ok, "GPUs", text, ""};
}

Finding visible(const Facts& facts) {
  const devices::VisibleGpus& seen = facts.visible;
  if (!seen.list_given)
    return {Verdict::ok, "visible list", "CUDA_VISIBLE_DEVICES is not set: every GPU", ""};
  std::string text = "CUDA_VISIBLE_DEVICES='" + seen.list_text + "'";
  if (facts.gpus.gpus.empty()) return {Verdict::ok, "visible list", text + ", without GPUs", ""};
  std::vector<std::string> ids;
  for (const devices::Gpu& gpu : seen.gpus) ids.push_back(std::to_string(gpu.index));
  text += ids.empty() ? " shows no GPU" : " shows GPU ids " + joined(ids) + " as cuda:0 and on";
  if (!seen.warnings.empty())
    return {seen.gpus.empty() ? Verdict::problem : Verdict::warn, "visible list", text,
            seen.warnings.front()};
  return {Verdict::ok, "visible list", text, ""};
}

// One node does not need its name, so this stops no job on it.
Finding host(const Facts& facts) {
  const HostName& host = facts.host;
  const char* advice = "several nodes find each other by name: put it into /etc/hosts or DNS";
  if (host.timed_out)
    return {Verdict::warn, "host name", host.name + ": no answer from the name server in 2 s",
            "programs that look it up will hang; see /etc/resolv.conf"};
  if (host.addresses.empty())
    return {Verdict::warn, "host name", host.name + ": " + host.failure, advice};
  const std::string text = host.name + " is " + joined(host.addresses);
  const bool only_loopback = std::ranges::all_of(host.addresses, [](const std::string& address) {
    return address.starts_with("127.") || address == "::1";
  });
  if (only_loopback)
    return {Verdict::warn, "host name", text + ": loopback only",
            "fine on one node; other nodes need --local-addr or a real address"};
  return {Verdict::ok, "host name", text, ""};
}

Finding loopback(const Facts& facts) {
  if (facts.loopback_failure.empty())
    return {Verdict::ok, "loopback", "127.0.0.1 can be listened on", ""};
  return {Verdict::problem, "loopback", facts.loopback_failure,
          "the workers of a node meet on 127.0.0.1; is the interface lo up?"};
}

Finding open_files(const Facts& facts) {
  const std::string text =
      std::to_string(facts.open_files_soft) + ", at most " + std::to_string(facts.open_files_hard);
  if (facts.open_files_hard >= kEnoughFiles) return {Verdict::ok, "open files", text, ""};
  return {Verdict::warn, "open files", text,
          "ddprun needs 3 for each worker and programs need many; raise it (ulimit -Hn)"};
}

Finding folder(const Folder& found, const std::string& subject, unsigned long long enough,
               Verdict not_writable, const std::string& use) {
  if (!found.writable) return {not_writable, subject, found.path + " cannot be written to", use};
  std::string text = found.path;
  if (found.free_bytes) text += ", " + size_text(*found.free_bytes) + " free";
  if (found.free_bytes && *found.free_bytes < enough) return {Verdict::warn, subject, text, use};
  return {Verdict::ok, subject, text, ""};
}

Finding python(const Facts& facts) {
  if (!facts.python.empty()) return {Verdict::ok, "python3", facts.python, ""};
  return {Verdict::warn, "python3", "not in PATH",
          "needed for .py programs only; PYTHON_EXEC names another"};
}

Finding hwloc(const Facts& facts) {
  if (facts.hwloc_failure.empty()) return {Verdict::ok, "hwloc", "--bind can be used", ""};
  return {Verdict::warn, "hwloc", facts.hwloc_failure, "only --bind needs it"};
}

Finding core_dumps(const Facts& facts) {
  const std::string where = facts.core_pattern.empty() ? "unknown" : facts.core_pattern;
  const bool piped = where.starts_with('|');
  if (facts.core_limit == 0 && !piped)
    return {Verdict::ok, "core dumps", "off (ulimit -c is 0), pattern " + where, ""};
  return {Verdict::ok, "core dumps", "on, pattern " + where, ""};
}

Finding scheduler(const Facts& facts) {
  return {Verdict::ok, "scheduler", facts.scheduler.empty() ? "none seen" : joined(facts.scheduler),
          ""};
}

const char* word_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "ok     ";
    case Verdict::warn:
      return "warn   ";
    case Verdict::problem:
      return "problem";
  }
  return "?";
}

}  // namespace

std::vector<Finding> examine(const Facts& facts) {
  return {cpus(facts),
          memory(facts),
          gpus(facts),
          visible(facts),
          host(facts),
          loopback(facts),
          open_files(facts),
          folder(facts.shared_memory, "shared memory", kEnoughShared, Verdict::warn,
                 "NCCL and data loaders use it; in a container raise --shm-size"),
          folder(facts.temporary, "TMPDIR", kEnoughTemporary, Verdict::problem,
                 "the run's directory is made there; set TMPDIR or --log-dir"),
          python(facts),
          hwloc(facts),
          core_dumps(facts),
          scheduler(facts)};
}

std::string text(const Facts& facts, const std::vector<Finding>& findings) {
  std::string text = "ddprun " + facts.version + " on " + facts.kernel + "\n";
  for (const Finding& finding : findings) {
    std::string subject = finding.subject;
    subject.resize(std::max<std::size_t>(subject.size(), 13), ' ');
    text += std::string(word_of(finding.verdict)) + "  " + subject + "  " + finding.text + "\n";
    if (!finding.advice.empty()) text += std::string(24, ' ') + "-> " + finding.advice + "\n";
  }
  const auto count = [&](Verdict verdict) {
    return static_cast<std::size_t>(std::ranges::count(findings, verdict, &Finding::verdict));
  };
  if (count(Verdict::problem) + count(Verdict::warn) == 0) return text + "nothing to complain of\n";
  return text + plural(count(Verdict::problem), "problem") + ", " +
         plural(count(Verdict::warn), "warning") + "\n";
}

int exit_code(const std::vector<Finding>& findings) {
  return std::ranges::find(findings, Verdict::problem, &Finding::verdict) == findings.end() ? 0 : 1;
}

}  // namespace ddprun::doctor
