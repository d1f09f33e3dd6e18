#include "tests/integration/hosts/stand_in.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "rendezvous/base/read_file.h"

namespace ddprun::test {

std::vector<pid_t> workers_of(const std::string& marker) {
  std::vector<pid_t> found;
  for (const pid_t pid : pids_with(marker))
    if (read_file("/proc/" + std::to_string(pid) + "/comm") == "sh\n" &&
        read_file("/proc/" + std::to_string(pid) + "/cmdline")->starts_with("sh"))
      found.push_back(pid);
  return found;
}

bool no_worker_of(const std::string& marker, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!workers_of(marker).empty()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    ::poll(nullptr, 0, 5);  // there is no event for the end of a process that is not my child
  }
  return true;
}

void StandIn::set(const std::string& script) {
  const std::string file = rsh();
  std::ofstream(file) << "#!/bin/sh\nhost=$1; shift\n"
                      << script << "\nexec setsid -w /bin/sh -c \"$1\"\n";
  ::chmod(file.c_str(), 0755);
}

Words StandIn::words(const std::string& hosts, const Words& options, const Words& command) const {
  Words all{"--hosts", hosts, "--rsh", rsh()};
  all.insert(all.end(), options.begin(), options.end());
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

std::string StandIn::mark() {
  return "ddprun-stand-in-test-" + std::to_string(::getpid()) + "-" +
         testing::UnitTest::GetInstance()->current_test_info()->name();
}

}  // namespace ddprun::test
