#include "launcher/doctor/read_amounts.h"

#include <algorithm>
#include <charconv>

#include "launcher/report/out_of_memory.h"
#include "rendezvous/base/cgroups.h"
#include "rendezvous/base/printable.h"
#include "rendezvous/base/read_file.h"

namespace ddprun::doctor {
namespace {

std::optional<unsigned long long> number(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return std::nullopt;
  unsigned long long value = 0;
  const auto [end, error] = std::from_chars(text.data() + begin, text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::string text_of(const std::string& path) {
  return read_file(path).value_or("");
}

void lower(std::optional<unsigned long long>& limit, std::optional<unsigned long long> other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

bool starts_with_one_of(std::string_view name, std::initializer_list<std::string_view> begins) {
  return std::ranges::any_of(begins, [&](auto begin) { return name.starts_with(begin); });
}

bool may_be_secret(std::string_view name) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"TOKEN", "SECRET", "PASSWORD", "KEY"},
      [&](auto word) { return name.find(word) != std::string_view::npos; });
}

}  // namespace

std::optional<unsigned long long> available_memory(std::string_view meminfo) {
  constexpr std::string_view kName = "MemAvailable:";
  const auto begin = meminfo.find(kName);
  if (begin == std::string_view::npos) return std::nullopt;
  const auto kibi = number(meminfo.substr(begin + kName.size()));
  return kibi ? std::optional(*kibi * 1024) : std::nullopt;
}

Amount cgroup_memory(const std::string& groups, const std::string& root) {
  Amount found;
  for (const report::MemoryCgroup& group : report::memory_cgroups(groups)) {
    const std::string folder = root + (group.v2 ? "" : "/memory");
    const char* limit = group.v2 ? "/memory.max" : "/memory.limit_in_bytes";
    for (const std::string& name : group.folders)
      lower(found.limit, report::memory_limit(text_of(folder + name + limit)));
    const char* used = group.v2 ? "/memory.current" : "/memory.usage_in_bytes";
    if (!group.folders.empty() && !found.used)
      found.used = number(text_of(folder + group.folders.front() + used));
  }
  return found;
}

Amount cgroup_processes(const std::string& groups, const std::string& root) {
  Amount found;
  for (const Cgroup& group : read_cgroups(groups)) {
    if (!group.v2() && !group.has("pids")) continue;
    const std::string folder = root + (group.v2() ? "" : "/pids");
    for (const std::string& name : group.folders)
      lower(found.limit, number(text_of(folder + name + "/pids.max")));
    if (!group.folders.empty() && !found.used)
      found.used = number(text_of(folder + group.folders.front() + "/pids.current"));
  }
  return found;
}

std::vector<std::string> scheduler(const cli::Environment& environment) {
  return entries_of(environment, {"SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_NTASKS", "PBS_JOBID",
                                  "LSB_JOBID", "FLUX_JOB_ID", "KUBERNETES_SERVICE_HOST",
                                  "JOB_COMPLETION_INDEX", "OMPI_COMM_WORLD_SIZE"});
}

std::vector<std::string> settings(const cli::Environment& environment) {
  std::vector<std::string> found;
  for (const std::string& entry : environment.entries()) {
    const std::string_view name = cli::variable_name(entry);
    if (starts_with_one_of(name, {"PET_", "NCCL_", "GLOO_", "TORCHELASTIC_", "TORCH_NCCL_",
                                  "TORCH_DIST", "OMP_", "MASTER_", "RDZV_"}) &&
        !may_be_secret(name))
      found.push_back(printable(entry));
  }
  return found;
}

std::vector<std::string> entries_of(const cli::Environment& environment,
                                    std::initializer_list<const char*> names) {
  std::vector<std::string> found;
  for (const char* name : names)
    if (const auto value = environment.get(name))
      found.push_back(printable(std::string(name) + "=" + std::string(*value)));
  return found;
}

}  // namespace ddprun::doctor
