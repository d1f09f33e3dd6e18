#include "launcher/devices/gpu_processes.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "rendezvous/base/command_of.h"
#include "rendezvous/base/read_file.h"

namespace ddprun::devices {
namespace {

constexpr unsigned kMostProcesses = 4096;

// 0 when it is gone.
pid_t parent_of(pid_t pid) {
  const std::string status = read_file("/proc/" + std::to_string(pid) + "/status").value_or("");
  const std::size_t line = status.find("\nPPid:\t");
  if (line == std::string::npos) return 0;
  pid_t parent = 0;
  std::from_chars(status.data() + line + 7, status.data() + status.size(), parent);
  return parent;
}

bool is_ours(pid_t pid) {
  for (pid_t ancestor = ::getpid(); ancestor > 1; ancestor = parent_of(ancestor))
    if (ancestor == pid) return true;
  return false;
}

std::string owner_of(pid_t pid) {
  struct stat info {};
  if (::stat(("/proc/" + std::to_string(pid)).c_str(), &info) != 0) return "";
  const passwd* entry = ::getpwuid(info.st_uid);
  return entry == nullptr ? std::to_string(info.st_uid) : entry->pw_name;
}

GpuProcess look_at(const NvmlProcessInfo& info) {
  GpuProcess process;
  process.pid = static_cast<pid_t>(info.pid);
  if (info.used_memory != kNvmlUnknown) process.memory = info.used_memory;
  process.user = owner_of(process.pid);
  if (process.user.empty()) return process;  // of another container, or gone
  process.command = command_of(process.pid);
  process.orphan = parent_of(process.pid) == 1;
  return process;
}

std::string size_text(unsigned long long bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / (1ULL << 30));
  return text;
}

}  // namespace

std::vector<GpuProcess> processes_on(const Nvml& nvml, Nvml::Device device) {
  if (nvml.compute_processes == nullptr) return {};
  unsigned count = 0;
  if (nvml.compute_processes(device, &count, nullptr) != kNvmlInsufficientSize) return {};
  // Some may come before the second call.
  std::vector<NvmlProcessInfo> infos(std::min(count + 16, kMostProcesses));
  count = static_cast<unsigned>(infos.size());
  if (nvml.compute_processes(device, &count, infos.data()) != kNvmlSuccess) return {};
  infos.resize(std::min<std::size_t>(count, infos.size()));
  std::vector<GpuProcess> found;
  for (const NvmlProcessInfo& info : infos)
    if (!is_ours(static_cast<pid_t>(info.pid))) found.push_back(look_at(info));
  const auto size = [](const GpuProcess& process) { return process.memory.value_or(0); };
  std::ranges::stable_sort(found, std::ranges::greater{}, size);
  return found;
}

std::string busy_text(const Gpu& gpu) {
  if (gpu.processes.empty()) return "";
  const GpuProcess& first = gpu.processes.front();
  std::string text =
      "GPU " + std::to_string(gpu.index) + " is busy: pid " + std::to_string(first.pid) + " (" +
      (first.user.empty() ? "not to be seen from here" : first.command + ", user " + first.user) +
      (first.orphan ? ", left behind by its parent" : "") + ")";
  text += first.memory ? " holds " + size_text(*first.memory) : " computes on it";
  const std::size_t others = gpu.processes.size() - 1;
  if (others > 0) text += ", and " + std::to_string(others) + " more";
  return text;
}

}  // namespace ddprun::devices
