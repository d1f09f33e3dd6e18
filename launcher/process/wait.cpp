#include "launcher/process/wait.h"

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>

namespace ddprun::process {
namespace {

// Older C libraries have no name for it.
constexpr idtype_t kPidfd = static_cast<idtype_t>(3);

}  // namespace

std::optional<WaitStatus> reap(int pidfd) {
  using Kind = WaitStatus::Kind;
  siginfo_t info{};
  // Somebody else has reaped it, which must not look as if it still ran.
  if (::waitid(kPidfd, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG) != 0)
    return WaitStatus{Kind::signaled, SIGKILL, false};
  if (info.si_pid == 0) return {};
  if (info.si_code == CLD_EXITED) return WaitStatus{Kind::exited, info.si_status, false};
  return WaitStatus{Kind::signaled, info.si_status, info.si_code == CLD_DUMPED};
}

ChildState state_of(int pidfd) {
  siginfo_t info{};
  const int options = WEXITED | WSTOPPED | WNOHANG | WNOWAIT;
  if (::waitid(kPidfd, static_cast<id_t>(pidfd), &info, options) != 0) return ChildState::ended;
  if (info.si_pid == 0) return ChildState::running;
  const bool stopped = info.si_code == CLD_STOPPED || info.si_code == CLD_TRAPPED;
  return stopped ? ChildState::stopped : ChildState::ended;
}

int stop_signal_of(pid_t pid) {
  siginfo_t info{};
  const int options = WSTOPPED | WNOHANG | WNOWAIT;
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, options) != 0 || info.si_pid == 0) return 0;
  return info.si_code == CLD_STOPPED ? info.si_status : 0;
}

pid_t ended_child() {
  siginfo_t info{};
  if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return errno == ECHILD ? -1 : 0;
  return info.si_pid;
}

void reap_orphan(pid_t pid) {
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG);
}

}  // namespace ddprun::process
