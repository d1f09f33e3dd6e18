#include "launcher/report/core_dump.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>

#include "launcher/report/printable.h"
#include "rendezvous/base/read_file.h"

namespace ddprun::report {
namespace {

// The kernel keeps 15 bytes of a program's name.
constexpr std::size_t kCommLength = 15;

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::string with_bangs(std::string path) {
  std::replace(path.begin(), path.end(), '/', '!');
  return path;
}

std::string expand(char letter, const CoreSubject& subject) {
  switch (letter) {
    case '%':
      return "%";
    case 'p':
      return std::to_string(subject.pid);
    case 's':
      return std::to_string(subject.signal);
    case 'u':
      return std::to_string(subject.uid);
    case 'g':
      return std::to_string(subject.gid);
    case 'h':
      return subject.host;
    case 'e':
      return file_name(subject.program).substr(0, kCommLength);
    case 'E':
      return subject.program.starts_with('/') ? with_bangs(subject.program) : "*";
    default:  // the time, the thread, the pid on the host, the limit: known to the kernel alone
      return "*";
  }
}

std::string_view without_newline(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

std::string first_match(const std::string& pattern) {
  glob_t matches{};
  std::string found;
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &matches) == 0) found = matches.gl_pathv[0];
  ::globfree(&matches);
  return found;
}

std::string advice(const std::string& handler, pid_t pid) {
  const std::string name = file_name(handler);
  if (name == "systemd-coredump") return " (coredumpctl info " + std::to_string(pid) + ")";
  if (name == "apport") return " (see /var/crash)";
  return "";
}

}  // namespace

CorePlace core_place(std::string_view pattern, bool uses_pid, const CoreSubject& subject) {
  pattern = without_newline(pattern);
  if (pattern.starts_with('|')) {
    pattern.remove_prefix(1);
    while (pattern.starts_with(' ')) pattern.remove_prefix(1);
    return {"", std::string(pattern.substr(0, pattern.find(' ')))};
  }
  std::string name;
  bool names_pid = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      name += pattern[i];
    } else if (++i < pattern.size()) {
      name += expand(pattern[i], subject);
      names_pid = names_pid || pattern[i] == 'p';
    }
  }
  if (name.empty()) name = "core";
  if (uses_pid && !names_pid) name += "." + std::to_string(subject.pid);
  return {(std::filesystem::path(subject.folder) / name).lexically_normal().string(), ""};
}

std::string core_line(const CorePlace& place, const std::string& found, pid_t pid) {
  if (!place.handler.empty())
    return "core: taken by '" + printable(place.handler) + "'" + advice(place.handler, pid);
  if (!found.empty()) return "core: " + printable(found);
  return "core: expected at " + printable(place.file) + ", but it is not there";
}

std::string find_core(const CoreSubject& subject) {
  const auto pattern = read_file("/proc/sys/kernel/core_pattern");
  if (!pattern) return "core: somewhere, /proc/sys/kernel/core_pattern cannot be read";
  const std::string uses_pid = read_file("/proc/sys/kernel/core_uses_pid").value_or("0");
  const CorePlace place = core_place(*pattern, uses_pid.starts_with('1'), subject);
  return core_line(place, place.file.empty() ? "" : first_match(place.file), subject.pid);
}

}  // namespace ddprun::report
