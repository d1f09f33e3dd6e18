#include "launcher/guardian/guardian.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bitset>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "launcher/process/children.h"
#include "launcher/process/exit_codes.h"
#include "launcher/process/terminal.h"
#include "rendezvous/base/command_of.h"

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

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

bool is_pending(int signo) {
  sigset_t pending;
  return ::sigpending(&pending) == 0 && sigismember(&pending, signo) == 1;
}

// A reader that does not read must not keep the guardian from clearing up.
void say(const std::string& line) {
  pollfd writable{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&writable, 1, 100) <= 0) return;
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;  // nobody left to tell
}

// Kills what a launcher that did not clean up has left, and says so.
void clear_up() {
  if (!has_children()) return;
  for (pid_t pid : process::kill_all_children({}, kPatienceMs))
    say("ddprun: process " + std::to_string(pid) + " (" + command_of(pid) +
        ") of the job could not be killed; it is still there\n");
  if (has_children() && process::children_of(::getpid()).empty())
    say("ddprun: /proc does not show the processes of the job; some of them may still be there\n");
}

// A run whose launcher was killed leaves the directories of its workers, most of them empty.
// Says what stays, as the end of a message.
std::string remove_empty(const char* directory) {
  if (directory == nullptr || *directory == '\0') return {};
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::vector<fs::path> found{directory};
  for (fs::recursive_directory_iterator entry(directory, ignored), end; entry != end;
       entry.increment(ignored))
    if (entry->is_directory(ignored) && !entry->is_symlink(ignored)) found.push_back(*entry);
  for (auto path = found.rbegin(); path != found.rend(); ++path) ::rmdir(path->c_str());
  return fs::exists(directory, ignored) ? std::string("; its files are in ") + directory : "";
}

// Memory that the launcher writes and the guardian reads once the launcher is gone.
char* shared_text() {
  void* page = ::mmap(nullptr, PATH_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return page == MAP_FAILED ? nullptr : static_cast<char*>(page);
}

// Signals that only --signals-to-handle makes mean something. Nobody has read it when the guardian
// begins to wait, so it forwards them all; to a launcher that does not expect them they do what
// they do to any program.
const std::vector<int>& further_signals() {
  static const std::vector<int> signals = [] {
    std::vector<int> found{SIGALRM,   SIGVTALRM, SIGPROF,  SIGXCPU, SIGXFSZ, SIGIO, SIGPWR,
                           SIGSTKFLT, SIGURG,    SIGWINCH, SIGABRT, SIGTRAP, SIGSYS};
    for (int signo = SIGRTMIN; signo <= SIGRTMAX; ++signo) found.push_back(signo);
    return found;
  }();
  return signals;
}

// By these the launcher ends only on purpose, when it has left nobody, or before it has begun.
bool asks_to_stop(int signo) {
  return signo == SIGTERM || signo == SIGINT || signo == SIGHUP || signo == SIGQUIT ||
         signo == SIGUSR1 || signo == SIGUSR2;
}

// What the guardian waits for.
std::vector<int> awaited_signals() {
  std::vector<int> signals = handled_signals();
  signals.push_back(SIGTTIN);
  signals.insert(signals.end(), further_signals().begin(), further_signals().end());
  return signals;
}

// Who waits for the child of this process, and what it knows of it.
struct Watch {
  pid_t child = 0;
  int link = -1;                     // our end of a pipe whose other end only the child has
  pid_t job_group = 0;               // see Link
  bool is_init = false;              // this is process 1
  bool clears_up = false;            // everything below this process is the job
  const char* directory = nullptr;   // see Link
  std::bitset<NSIG> forwarded = {};  // signals that it got from us
};

[[noreturn]] void end_like(int status, const Watch& watch) {
  // A launcher that ended by itself has left nobody.
  if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
  const int signo = WTERMSIG(status);
  if (asks_to_stop(signo) || !watch.clears_up) end_by_signal(signo, watch.is_init);
  clear_up();
  const std::string files = remove_empty(watch.directory);
  // The rank that read from it has died with the terminal in its hands.
  ::signal(SIGTTOU, SIG_IGN);
  process::Terminal(STDIN_FILENO, watch.job_group).take_back(0);
  if (watch.forwarded.test(static_cast<std::size_t>(signo))) end_by_signal(signo, watch.is_init);
  if (signo != SIGKILL) {
    say("ddprun: the launcher itself has failed (signal " + std::to_string(signo) +
        "), which is a bug of ddprun; the processes of the job were killed" + files + "\n");
    ::_exit(process::kExitCannotWork);
  }
  say("ddprun: the launcher was killed (SIGKILL, sender unknown); the processes of the job were "
      "killed with it" +
      files + "\n");
  end_by_signal(signo, watch.is_init);
}

void on_child_changed(const Watch& watch) {
  int status = 0;
  while (::waitpid(watch.child, &status, WNOHANG | WUNTRACED) == watch.child) {
    if (!WIFSTOPPED(status)) end_like(status, watch);
    stop_until_continued(watch.link);
    ::kill(watch.child, SIGCONT);  // whoever woke us need not have woken both
  }
  // As process 1 we inherit every orphan of the container.
  for (pid_t pid = 0; watch.is_init && (pid = ::waitpid(-1, &status, WNOHANG)) > 0;)
    if (pid == watch.child) end_like(status, watch);
}

[[noreturn]] void run(Watch watch) {
  const sigset_t set = set_of(awaited_signals());
  ::signal(SIGPIPE, SIG_IGN);
  for (;;) {
    siginfo_t info{};
    const int signo = ::sigwaitinfo(&set, &info);
    if (signo < 0) continue;
    if (signo == SIGCHLD)
      on_child_changed(watch);
    else if (signo == SIGTTIN)
      stop_until_continued(watch.link);
    else if (!is_ignored(signo)) {
      watch.forwarded.set(static_cast<std::size_t>(signo));
      ::kill(watch.child, signo);
    }
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

// Forks. The parent waits for the child and ends as it ends; the child, in a process group of its
// own and killed with its parent, goes on with the end of a pipe that tells whether the parent is
// still there.
UniqueFd fork_watched(Watch watch) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) fail("fork");
  if (child != 0) {
    ::setpgid(child, child);  // in both processes: whoever comes first
    ::close(ends[0]);
    watch.child = child;
    watch.link = ends[1];
    watch.is_init = parent == 1;
    run(watch);
  }
  ::setpgid(0, 0);
  ::close(ends[1]);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(process::kExitCannotWork);
  return UniqueFd(ends[0]);
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

void leave_directory(const Link& link, const std::string& path) {
  if (link.directory == nullptr || path.size() >= PATH_MAX) return;
  std::strcpy(link.directory, path.c_str());
}

void stop_until_continued(int link) {
  // Whoever is stopped cannot see the end of the other process; the kernel can wake it instead.
  ::fcntl(link, F_SETOWN, ::getpid());
  ::fcntl(link, F_SETSIG, SIGCONT);
  const int flags = ::fcntl(link, F_GETFL);
  ::fcntl(link, F_SETFL, flags | O_ASYNC);
  // One that has come already would be forgotten with the stop.
  if (!is_pending(SIGCONT)) ::raise(SIGSTOP);
  ::fcntl(link, F_SETFL, flags);
}

Link split() {
  const auto started = std::chrono::steady_clock::now();
  open_standard_descriptors();
  const sigset_t set = set_of(awaited_signals());
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  // Shells and services leave some of these ignored: SIGINT for `ddprun … &` in a script. Only
  // SIGHUP is a wish, that of nohup, and SIGTSTP that of a shell without job control.
  for (int signo : {SIGCHLD, SIGTERM, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2}) ::signal(signo, SIG_DFL);
  Link link{.alive = {},
            .job_group = ::getpgrp(),
            .guardian = 0,
            .started_by = ::getppid(),
            .started = started,
            .directory = nullptr};
  // `sleep 9 & exec ddprun …`: this process keeps its earlier children and only waits, so that
  // everything below the guardian belongs to the job.
  if (has_children()) fork_watched({.job_group = link.job_group});
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  link.directory = shared_text();
  link.alive =
      fork_watched({.job_group = link.job_group, .clears_up = true, .directory = link.directory});
  link.guardian = ::getppid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // It writes to the terminal from the background; `stty tostop` is not meant for it.
  ::signal(SIGTTOU, SIG_IGN);
  // Until somebody reads them they do what they do to any program: nothing was started yet.
  std::vector<int> unread = further_signals();
  for (int signo : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) unread.push_back(signo);
  const sigset_t not_read = set_of(unread);
  ::sigprocmask(SIG_UNBLOCK, &not_read, nullptr);
  return link;
}

}  // namespace ddprun::guardian
