#include "tests/integration/support/left_behind.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "rendezvous/base/read_file.h"

namespace ddprun::test {

namespace fs = std::filesystem;

std::vector<pid_t> pids_with_variable(const std::string& mark) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    const auto environment = read_file(entry.path() / "environ");
    if (environment && environment->find(mark) != std::string::npos) found.push_back(pid);
  }
  return found;
}

std::string first_in(const std::string& folder, bool files_only) {
  std::error_code none;
  for (const auto& entry : fs::recursive_directory_iterator(folder, none))
    if (!files_only || !entry.is_directory()) return entry.path();
  return "";
}

}  // namespace ddprun::test
