#include "launcher/guardian/guardian.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "launcher/process/children.h"
#include "launcher/process/exit_codes.h"

namespace ddprun::guardian {
namespace {

constexpr int kPatienceMs = 5000;

sigset_t set_of(const std::vector<int>& signals) {
  sigset_t set;
  sigemptyset(&set);
  for (int signo : signals) sigaddset(&set, signo);
  return set;
}

// A blocked signal is queued even where it is ignored, so `nohup` has to be obeyed by hand.
bool is_ignored(int signo) {
  struct sigaction now {};
  return ::sigaction(signo, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

// Children that the process had before it became ddprun (`sleep 9 & exec ddprun …`), with the
// sessions they are in.
struct Strangers {
  std::vector<pid_t> pids;
  // No process of the job is ever in one of these: every worker opens a session of its own.
  std::vector<pid_t> sessions;
};

Strangers strangers() {
  Strangers found;
  found.sessions.push_back(::getsid(0));
  siginfo_t info{};
  if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
    return found;  // the usual case: no children
  found.pids = process::children_of(::getpid());
  for (pid_t pid : found.pids) found.sessions.push_back(::getsid(pid));
  return found;
}

// A reader that does not read must not keep the guardian from clearing up.
void say(const std::string& line) {
  pollfd writable{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&writable, 1, 100) <= 0) return;
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;  // nobody left to tell
}

// Kills what a launcher that did not clean up has left, and says so.
void clear_up(const Strangers& spared) {
  siginfo_t info{};
  if (spared.pids.empty() && ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return;
  for (pid_t pid : process::kill_all_children(spared.pids, spared.sessions, kPatienceMs))
    say("ddprun: process " + std::to_string(pid) + " (" + process::command_of(pid) +
        ") of the job could not be killed; it is still there\n");
  if (spared.pids.empty() && ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
    say("ddprun: /proc does not show the processes of the job; some of them may still be there\n");
}

// Set while the launcher is stopped, so that a SIGCONT that reaches only the guardian wakes both.
void stop_with_launcher(pid_t launcher) {
  ::raise(SIGSTOP);
  ::kill(launcher, SIGCONT);
}

bool asks_to_stop(int signo) {
  return signo == SIGTERM || signo == SIGINT || signo == SIGHUP || signo == SIGQUIT;
}

[[noreturn]] void end_like(int status, const Strangers& spared, bool is_init) {
  // A launcher that ended by itself has left nobody; what is here now belongs to others.
  if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
  const int signo = WTERMSIG(status);
  if (asks_to_stop(signo)) end_by_signal(signo, is_init);
  clear_up(spared);
  if (signo != SIGKILL) {
    say("ddprun: the launcher itself has failed (signal " + std::to_string(signo) +
        "), which is a bug of ddprun; the processes of the job were killed\n");
    ::_exit(process::kExitCannotWork);
  }
  say("ddprun: the launcher was killed (SIGKILL, sender unknown); the processes of the job were "
      "killed with it\n");
  end_by_signal(signo, is_init);
}

[[noreturn]] void watch(pid_t launcher, const Strangers& spared, bool is_init) {
  const sigset_t set = set_of(handled_signals());
  ::signal(SIGPIPE, SIG_IGN);
  for (;;) {
    siginfo_t info{};
    const int signo = ::sigwaitinfo(&set, &info);
    if (signo < 0) continue;
    if (signo != SIGCHLD) {
      if (!is_ignored(signo)) ::kill(launcher, signo);
      continue;
    }
    int status = 0;
    while (::waitpid(launcher, &status, WNOHANG | WUNTRACED) == launcher) {
      if (!WIFSTOPPED(status)) end_like(status, spared, is_init);
      stop_with_launcher(launcher);
    }
    // As process 1 the guardian inherits every orphan of the container.
    for (pid_t pid = 0; is_init && (pid = ::waitpid(-1, &status, WNOHANG)) > 0;)
      if (pid == launcher) end_like(status, spared, is_init);
  }
}

// A pipe that became descriptor 1 would be taken for the user's output.
void open_standard_descriptors() {
  int fd = ::open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::dup(fd);
  if (fd > STDERR_FILENO) ::close(fd);
}

[[noreturn]] void fail(const char* what) {
  say(std::string("ddprun: cannot start: ") + what + ": " + std::strerror(errno) + "\n");
  ::_exit(process::kExitCannotWork);
}

}  // namespace

const std::vector<int>& handled_signals() {
  static const std::vector<int> signals{SIGTERM, SIGINT,  SIGHUP,  SIGQUIT, SIGUSR1,
                                        SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD};
  return signals;
}

void end_by_signal(int signo, bool is_init) {
  if (is_init) ::_exit(128 + signo);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(signo, SIG_DFL);
  const sigset_t set = set_of({signo});
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  ::kill(::getpid(), signo);
  ::_exit(128 + signo);  // the signal is one that does not end a process
}

void outlive_guardian() {
  ::prctl(PR_SET_PDEATHSIG, 0);
}

Link split() {
  open_standard_descriptors();
  const sigset_t set = set_of(handled_signals());
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  // Shells and services leave some of these ignored: SIGINT for `ddprun … &` in a script. Only
  // SIGHUP is a wish, that of nohup, and SIGTSTP that of a shell without job control.
  for (int signo : {SIGCHLD, SIGTERM, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2}) ::signal(signo, SIG_DFL);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  Link link;
  const bool is_init = ::getpid() == 1;
  const Strangers spared = strangers();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
  const pid_t guardian = ::getpid();
  const pid_t launcher = ::fork();
  if (launcher < 0) fail("fork");
  if (launcher != 0) {
    ::setpgid(launcher, launcher);  // in both processes: whoever comes first
    ::close(ends[0]);
    watch(launcher, spared, is_init);
  }
  ::setpgid(0, 0);
  ::close(ends[1]);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // As long as no event loop notices the end of `alive`.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != guardian) ::_exit(process::kExitCannotWork);
  // It writes to the terminal from the background; `stty tostop` is not meant for it.
  ::signal(SIGTTOU, SIG_IGN);
  // Until somebody reads them they do what they do to any program: nothing was started yet.
  const sigset_t stop = set_of({SIGTERM, SIGINT, SIGHUP, SIGQUIT});
  ::sigprocmask(SIG_UNBLOCK, &stop, nullptr);
  link.alive.reset(ends[0]);
  return link;
}

}  // namespace ddprun::guardian
