// Any text where files of /proc and of control groups, and what a debugger prints, are expected.
#include <cstdint>

#include "launcher/plan/node.h"
#include "launcher/report/core_dump.h"
#include "launcher/report/out_of_memory.h"
#include "launcher/stacks/tool.h"
#include "rendezvous/base/cgroups.h"
#include "tests/fuzz/checks.h"

namespace {

using namespace ddprun;
using fuzz::require;

// Its own folder first, the root last, and each is above the one before.
void check_folders(const std::vector<std::string>& folders) {
  require(!folders.empty() && folders.back().empty());
  for (std::size_t i = 1; i < folders.size(); ++i) {
    require(folders[i].size() < folders[i - 1].size());
    require(folders[i - 1].starts_with(folders[i]));
  }
  // None leads out of the hierarchy.
  for (const std::string& folder : folders) require(folder.find("/..") == std::string::npos);
}

void check_cgroups(std::string_view text) {
  for (const Cgroup& group : read_cgroups(text)) check_folders(group.folders);
  for (const auto& group : report::memory_cgroups(text)) check_folders(group.folders);
  const plan::CgroupFolders folders = plan::cgroup_folders(text);
  for (const auto* list : {&folders.v1, &folders.v2})
    if (!list->empty()) check_folders(*list);
}

void check_limits(std::string_view text) {
  const auto half = text.size() / 2;
  for (const auto limit :
       {plan::cpu_max_limit(text), plan::cfs_limit(text.substr(0, half), text.substr(half))})
    require(!limit || *limit > 0);
  report::oom_kills(text);
  if (const auto limit = report::memory_limit(text)) report::size_text(*limit);
}

void check_core(std::string_view text) {
  const report::CoreSubject subject{
      .pid = 7, .signal = 11, .program = "/opt/train", .folder = "/home/me", .host = "n"};
  for (const bool uses_pid : {false, true}) {
    const report::CorePlace place = report::core_place(text, uses_pid, subject);
    require(place.file.empty() || place.handler.empty());
    require(fuzz::is_printable(report::core_line(place, "", subject.pid)));
    require(fuzz::is_printable(report::core_line(place, place.file, subject.pid)));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::view_of(data, size);
  check_cgroups(text);
  check_limits(text);
  check_core(text);
  stacks::has_frames(text);
  return 0;
}
