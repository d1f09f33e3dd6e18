#include "launcher/process/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

namespace ddprun::process {
namespace {

using Words = std::vector<std::string>;

std::vector<char*> pointers(const Words& words, const Words* before = nullptr) {
  std::vector<char*> result;
  result.reserve(words.size() + (before == nullptr ? 0 : before->size()) + 1);
  if (before != nullptr)
    for (const std::string& word : *before) result.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

// The child writes into the parent's memory (vfork shares it), so the failure needs no pipe.
struct Report {
  volatile bool failed = false;
  volatile SpawnStep step = SpawnStep::exec;
  volatile int error = 0;
  PlacementErrors placement;
};

[[noreturn]] void give_up(Report& report, SpawnStep step) {
  report.error = errno;
  report.step = step;
  report.failed = true;
  _exit(127);
}

// A descriptor that is already 0, 1 or 2 keeps its close-on-exec flag unless it is cleared here.
bool place(int from, int to) {
  if (from == to) return ::fcntl(from, F_SETFD, 0) == 0;
  return ::dup2(from, to) == to;
}

// exec resets caught signals by itself, but a signal that is ignored stays ignored.
void default_dispositions(const std::vector<int>& ignored) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signo : ignored) ::sigaction(signo, &action, nullptr);
}

// While SIGTTOU is still ignored, as in the launcher, a background process may give the terminal.
void join_session(const Terminal* terminal) {
  if (terminal == nullptr) {
    ::setsid();
    return;
  }
  ::setpgid(0, 0);
  terminal->give_to(::getpid());
}

// Runs in the child, on the parent's memory: async-signal-safe calls only, no allocation, no
// destructor.
[[noreturn]] void become(const SpawnRequest& request, const SpawnSettings& settings,
                         char* const* argv, char* const* env, Report& report) {
  join_session(request.terminal);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != settings.launcher) _exit(127);  // it died before the line above took effect
  ::prctl(PR_SET_PTRACER, static_cast<unsigned long>(settings.launcher));
  if (!place(request.in, 0)) give_up(report, SpawnStep::standard_streams);
  if (!place(request.out, 1)) give_up(report, SpawnStep::standard_streams);
  if (!place(request.err, 2)) give_up(report, SpawnStep::standard_streams);
  if (request.directory >= 0 && ::fchdir(request.directory) != 0)
    give_up(report, SpawnStep::directory);
  unsigned first_to_close = kExtraDescriptor;
  if (request.extra >= 0) {
    if (!place(request.extra, kExtraDescriptor)) give_up(report, SpawnStep::standard_streams);
    ++first_to_close;
  }
  // What ddprun's own parent had open, a lock for example, is not meant for workers either.
  ::syscall(SYS_close_range, first_to_close, ~0U, 0U);
  if (settings.descriptors.rlim_max != 0) ::setrlimit(RLIMIT_NOFILE, &settings.descriptors);
  default_dispositions(settings.ignored_signals);
  if (request.placement != nullptr) report.placement = place_this_thread(*request.placement);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(request.path.c_str(), argv, env);
  give_up(report, SpawnStep::exec);
}

// Kept out of line and free of objects with destructors: the child returns through none of its
// frames.
[[gnu::noinline]] pid_t vfork_and_become(const SpawnRequest& request, const SpawnSettings& settings,
                                         char* const* argv, char* const* env, Report& report) {
  const pid_t pid = ::vfork();
  if (pid == 0) become(request, settings, argv, env, report);
  return pid;
}

}  // namespace

const char* call_of(SpawnStep step) {
  switch (step) {
    case SpawnStep::exec:
      return "execve";
    case SpawnStep::vfork:
      return "vfork";
    case SpawnStep::pidfd:
      return "pidfd_open";
    case SpawnStep::standard_streams:
      return "dup2";
    case SpawnStep::directory:
      return "fchdir";
  }
  return "?";
}

std::vector<int> ignored_signals() {
  std::vector<int> found;
  for (int signo = 1; signo < NSIG; ++signo) {
    struct sigaction now {};
    if (::sigaction(signo, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) found.push_back(signo);
  }
  return found;
}

boost::system::result<Child, SpawnFailure> spawn(const SpawnRequest& request,
                                                 const SpawnSettings& settings) {
  const std::vector<char*> argv = pointers(request.argv);
  const std::vector<char*> env = pointers(request.env, request.shared_env);
  Report report;
  const pid_t pid = vfork_and_become(request, settings, argv.data(), env.data(), report);
  if (pid < 0) return SpawnFailure{SpawnStep::vfork, errno};
  if (report.failed) {
    ::waitpid(pid, nullptr, 0);
    return SpawnFailure{report.step, report.error};
  }
  Child child;
  child.pid = pid;
  child.placement_errors = report.placement;
  child.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!child.pidfd) {
    const int error = errno;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return SpawnFailure{SpawnStep::pidfd, error};
  }
  return child;
}

void throw_exception_from_error(const SpawnFailure& failure, const boost::source_location&) {
  throw std::logic_error(std::string("value() of a failed spawn: ") + call_of(failure.step));
}

}  // namespace ddprun::process
