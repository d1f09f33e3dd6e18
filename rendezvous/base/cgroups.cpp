#include "rendezvous/base/cgroups.h"

namespace ddprun {
namespace {

std::string_view next_line(std::string_view& rest) {
  const auto newline = rest.find('\n');
  const std::string_view line = rest.substr(0, newline);
  rest.remove_prefix(newline == rest.npos ? rest.size() : newline + 1);
  return line;
}

// A path above the root ("/../x") belongs to another namespace: only the root is seen here. So it
// is with what is no path.
std::vector<std::string> with_parents(std::string_view path) {
  std::vector<std::string> folders;
  if (path.starts_with('/') && path.find("/..") == std::string_view::npos) {
    for (; path.size() > 1; path = path.substr(0, path.rfind('/'))) folders.emplace_back(path);
  }
  folders.emplace_back();
  return folders;
}

}  // namespace

bool Cgroup::has(std::string_view controller) const {
  return ("," + controllers + ",").find("," + std::string(controller) + ",") != std::string::npos;
}

std::vector<Cgroup> read_cgroups(std::string_view rest) {
  std::vector<Cgroup> found;
  while (!rest.empty()) {
    // 4:memory:/a/b in v1, 0::/a/b in v2
    const std::string_view line = next_line(rest);
    const auto first = line.find(':');
    const auto second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    found.push_back({std::string(line.substr(first + 1, second - first - 1)),
                     with_parents(line.substr(second + 1))});
  }
  return found;
}

}  // namespace ddprun
