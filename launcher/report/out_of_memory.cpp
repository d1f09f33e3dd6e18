#include "launcher/report/out_of_memory.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "rendezvous/base/cgroups.h"
#include "rendezvous/base/read_file.h"

namespace ddprun::report {
namespace {

// v1 says "no limit" with the largest multiple of the page size; no machine has 2^60 bytes.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60;

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::string_view next_line(std::string_view& rest) {
  const std::size_t newline = rest.find('\n');
  const std::string_view line = rest.substr(0, newline);
  rest.remove_prefix(newline == rest.npos ? rest.size() : newline + 1);
  return line;
}

std::optional<std::uint64_t> read_counter(const std::string& folder, bool v2) {
  return oom_kills(
      read_file(folder + (v2 ? "/memory.events" : "/memory.oom_control")).value_or(""));
}

}  // namespace

std::string size_text(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  char text[32];
  const bool whole = value == static_cast<double>(static_cast<std::uint64_t>(value));
  std::snprintf(text, sizeof text, whole ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

std::string describe(const OutOfMemory& found) {
  return "killed by the kernel: out of memory, " +
         (found.limit ? "cgroup limit " + size_text(*found.limit)
                      : std::string("of the whole machine: no cgroup limit is set"));
}

std::optional<std::uint64_t> oom_kills(std::string_view text) {
  constexpr std::string_view kName = "oom_kill ";
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.starts_with(kName)) return number(line.substr(kName.size()));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> memory_limit(std::string_view text) {
  const auto bytes = number(text);
  return bytes && *bytes < kNoLimit ? bytes : std::nullopt;
}

std::vector<MemoryCgroup> memory_cgroups(std::string_view proc_self_cgroup) {
  std::vector<MemoryCgroup> found;
  for (const Cgroup& group : read_cgroups(proc_self_cgroup)) {
    // Where both are there the memory controller is in v1.
    if (group.v2())
      found.push_back({true, group.folders});
    else if (group.has("memory"))
      found.insert(found.begin(), {false, group.folders});
  }
  return found;
}

OomCounter::OomCounter(const std::string& root, std::string_view proc_self_cgroup) {
  for (const MemoryCgroup& group : memory_cgroups(proc_self_cgroup)) {
    const std::string top = root + (group.v2 ? "" : "/memory");
    // In a container the names of the folders above are those of the host and are not there.
    for (const std::string& folder : group.folders) {
      const auto before = folders_.empty() ? read_counter(top + folder, group.v2) : std::nullopt;
      if (before) before_ = *before;
      if (before || !folders_.empty()) folders_.push_back(top + folder);
    }
    v2_ = group.v2;
    if (!folders_.empty()) return;
  }
}

std::optional<OutOfMemory> OomCounter::risen() const {
  if (folders_.empty()) return std::nullopt;
  const auto now = read_counter(folders_.front(), v2_);
  if (!now || *now <= before_) return std::nullopt;
  OutOfMemory found{*now - before_, std::nullopt};
  for (const std::string& folder : folders_) {
    const std::string file = folder + (v2_ ? "/memory.max" : "/memory.limit_in_bytes");
    const auto limit = memory_limit(read_file(file).value_or(""));
    if (limit) found.limit = std::min(*limit, found.limit.value_or(*limit));
  }
  return found;
}

}  // namespace ddprun::report
