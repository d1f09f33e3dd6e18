#include "launcher/process/terminal.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>

namespace ddprun::process {
namespace {

bool is_empty(pid_t group) {
  return ::kill(-group, 0) != 0 && errno == ESRCH;
}

}  // namespace

StopReaction reaction_to_stop(int signo, pid_t foreground, pid_t child_group, pid_t job_group) {
  if (signo == SIGTTIN || signo == SIGTTOU)
    return foreground == job_group || foreground == child_group ? StopReaction::give_terminal
                                                                : StopReaction::wait_for_terminal;
  return foreground == child_group ? StopReaction::stop_job : StopReaction::none;
}

pid_t Terminal::foreground() const {
  return ::tcgetpgrp(fd_);
}

void Terminal::give_to(pid_t child_group) const {
  if (foreground() == job_group_) ::tcsetpgrp(fd_, child_group);
}

void Terminal::take_back(pid_t child_group) const {
  const pid_t now = foreground();
  // The kernel shows a group that has no members any more under a number that nobody has.
  if (now > 0 && (now == child_group || is_empty(now))) ::tcsetpgrp(fd_, job_group_);
}

}  // namespace ddprun::process
