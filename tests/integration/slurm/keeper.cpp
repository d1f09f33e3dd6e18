// Runs each word as a command line for sh, until SIGTERM, until its parent has died or until one of
// them has ended. Whatever loses its parent below becomes its child, such as slurmstepd, and is
// reaped, as init would do. At the end nothing is left: SIGTERM for the commands, five seconds,
// SIGKILL for all that is below.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "launcher/process/children.h"

namespace {

sigset_t awaited() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGCHLD);
  return set;
}

pid_t start(const char* line) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  const sigset_t set = awaited();
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  ::setpgid(0, 0);
  ::execl("/bin/sh", "sh", "-c", line, nullptr);
  ::_exit(99);
}

void reap(std::vector<pid_t>& commands) {
  for (pid_t ended; (ended = ::waitpid(-1, nullptr, WNOHANG)) > 0;) std::erase(commands, ended);
}

}  // namespace

int main(int argc, char** argv) {
  const sigset_t set = awaited();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::vector<pid_t> commands;
  for (int word = 1; word < argc; ++word) commands.push_back(start(argv[word]));
  const std::size_t all = commands.size();
  while (commands.size() == all && ::sigwaitinfo(&set, nullptr) != SIGTERM) reap(commands);
  for (const pid_t pid : commands) ::kill(pid, SIGTERM);
  const timespec patience{5, 0};
  for (reap(commands); !commands.empty(); reap(commands))
    if (::sigtimedwait(&set, nullptr, &patience) < 0) break;
  ddprun::process::kill_all_children({}, 2'000);
  return 0;
}
