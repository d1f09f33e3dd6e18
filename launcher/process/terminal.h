// Job control for the one child that reads from the user's terminal.
//
// The kernel gives what is typed, and the signals of Ctrl-C and Ctrl-Z, to one process group of the
// session, the foreground group. It is that of a program which a shell has started; while a child
// of the launcher reads from the terminal it has to be the child's.
#pragma once

#include <sys/types.h>

namespace ddprun::process {

// What the stop of the reading child asks for.
enum class StopReaction {
  none,               // it is stopped as any process may be
  give_terminal,      // it wanted to read, and the terminal is the job's to give
  wait_for_terminal,  // it wanted to read in the background: only a shell can change that
  stop_job            // the user stopped it (Ctrl-Z), which means the whole job
};

// `signo` stopped the child; `foreground` is the group that has the terminal, `child_group` the
// child's, `job_group` the one in which the shell started the job. Pure.
StopReaction reaction_to_stop(int signo, pid_t foreground, pid_t child_group, pid_t job_group);

// The calling process may be in the background; it has to ignore SIGTTOU.
class Terminal {
 public:
  // `fd` is borrowed. `job_group` gets the terminal back.
  Terminal(int fd, pid_t job_group) : fd_(fd), job_group_(job_group) {}

  int fd() const { return fd_; }
  pid_t job_group() const { return job_group_; }
  // The foreground group; -1 when `fd` is not the terminal of this session.
  pid_t foreground() const;
  // Gives the terminal to `child_group` if the job has it now.
  void give_to(pid_t child_group) const;
  // Gives the terminal back to the job's group if `child_group` has it, or a group of which nobody
  // is left. It stays with a shell that has taken it.
  void take_back(pid_t child_group) const;

 private:
  int fd_;
  pid_t job_group_;
};

}  // namespace ddprun::process
