// Who has the terminal: the decisions, and a real pseudo-terminal.
#include "launcher/process/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/process/spawn.h"
#include "launcher/process/wait.h"

namespace ddprun::process {
namespace {

constexpr pid_t kChild = 10, kJob = 20, kShell = 30;

StopReaction reaction(int signo, pid_t foreground) {
  return reaction_to_stop(signo, foreground, kChild, kJob);
}

TEST(StopReactionTest, AReadInTheForegroundOfTheJobGetsTheTerminal) {
  for (int signo : {SIGTTIN, SIGTTOU}) {
    EXPECT_EQ(reaction(signo, kJob), StopReaction::give_terminal);
    EXPECT_EQ(reaction(signo, kChild), StopReaction::give_terminal);
    EXPECT_EQ(reaction(signo, kShell), StopReaction::wait_for_terminal);
  }
}

TEST(StopReactionTest, WhoHasTheTerminalIsStoppedByTheUser) {
  for (int signo : {SIGTSTP, SIGSTOP}) {
    EXPECT_EQ(reaction(signo, kChild), StopReaction::stop_job);
    EXPECT_EQ(reaction(signo, kJob), StopReaction::none);
    EXPECT_EQ(reaction(signo, kShell), StopReaction::none);
  }
}

// Runs `body` as the leader of a session on a new terminal, and in its foreground. What it returns
// becomes an exit code; nobody leaves a session that he leads, hence the process.
int on_a_terminal(int (*body)()) {
  int master = -1;
  const pid_t pid = ::forkpty(&master, nullptr, nullptr, nullptr);
  if (pid == 0) {
    ::alarm(20);
    ::signal(SIGTTOU, SIG_IGN);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  ::close(master);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A member of a process group of its own that waits for its end.
pid_t another_group() {
  const pid_t pid = ::fork();
  if (pid == 0)
    for (;;) ::pause();
  ::setpgid(pid, pid);
  return pid;
}

void end(pid_t pid) {
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

TEST(TerminalTest, IsGivenAwayOnlyByWhoHasIt) {
  EXPECT_EQ(on_a_terminal([] {
              const pid_t child = another_group();
              const Terminal terminal(0, ::getpgrp());
              terminal.give_to(child);
              if (terminal.foreground() != child) return 1;
              terminal.give_to(::getpgrp());
              if (terminal.foreground() != child) return 2;
              end(child);
              return 0;
            }),
            0);
}

TEST(TerminalTest, ComesBackFromTheChildAndFromTheDeadButNotFromAShell) {
  EXPECT_EQ(on_a_terminal([] {
              const pid_t job = ::getpgrp();
              const pid_t child = another_group(), shell = another_group();
              const Terminal terminal(0, job);
              terminal.give_to(child);
              terminal.take_back(child);
              if (terminal.foreground() != job) return 1;
              terminal.give_to(shell);
              terminal.take_back(child);
              if (terminal.foreground() != shell) return 2;
              end(shell);
              terminal.take_back(child);
              if (terminal.foreground() != job) return 3;
              end(child);
              return 0;
            }),
            0);
}

TEST(TerminalTest, AFileIsNoTerminal) {
  const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const Terminal terminal(fd, ::getpgrp());
  EXPECT_EQ(terminal.foreground(), -1);
  terminal.take_back(0);
  ::close(fd);
}

TEST(TerminalTest, AChildThatIsStartedOnItHasItAndStaysInTheSession) {
  EXPECT_EQ(on_a_terminal([] {
              const Terminal terminal(0, ::getpgrp());
              SpawnRequest request{.path = "/bin/sh",
                                   .argv = {"sh", "-c", "kill -STOP $$; exit 5"},
                                   .env = {},
                                   .in = 0,
                                   .out = 1,
                                   .err = 2,
                                   .terminal = &terminal};
              const auto child = spawn(request, {.launcher = ::getpid()});
              if (!child || terminal.foreground() != child->pid) return 1;
              if (::getsid(child->pid) != ::getsid(0)) return 2;
              if (::getpgid(child->pid) != child->pid) return 3;
              siginfo_t info{};
              ::waitid(P_PID, static_cast<id_t>(child->pid), &info, WSTOPPED | WNOWAIT);
              if (stop_signal_of(child->pid) != SIGSTOP) return 4;
              ::kill(child->pid, SIGCONT);
              ::waitid(P_PID, static_cast<id_t>(child->pid), &info, WEXITED | WNOWAIT);
              if (stop_signal_of(child->pid) != 0) return 5;
              return reap(child->pidfd.get())->value == 5 ? 0 : 6;
            }),
            0);
}

}  // namespace
}  // namespace ddprun::process
