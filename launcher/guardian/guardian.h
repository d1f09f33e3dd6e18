// The outer one of ddprun's two processes.
//
// The process that the user started becomes the guardian; it forks the launcher before anything
// else is loaded, forwards signals to it, ends as it ended, and when the launcher was killed it
// kills and reaps everything that was left behind. That works because it is a child subreaper:
// whatever loses its parent below it becomes its child, however often it forked, opened sessions or
// emptied its environment. Both processes killed at the same moment cannot be caught.
//
// A process that has children already when it becomes ddprun (`sleep 9 & exec ddprun …`) keeps them
// and forks the guardian: what is below the guardian is the job and nothing else.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "rendezvous/base/unique_fd.h"

namespace ddprun::guardian {

// What the launcher knows of its guardian.
struct Link {
  UniqueFd alive;        // reaches end-of-file when the guardian is gone
  pid_t job_group = 0;   // the process group in which the user started ddprun
  pid_t guardian = 0;    // SIGTTIN stops it alone, as a read from a terminal stops a program
  pid_t started_by = 0;  // ddprun's parent when it began; 0: it is in another pid namespace
  std::chrono::steady_clock::time_point started{};  // when ddprun was
  // Text that both processes see, see leave_directory(); null where there is none.
  char* directory = nullptr;
};

// Splits the process in two. Returns in the launcher, a child with a process group of its own; in
// the guardian it does not return. In the launcher the signals that ask it to stop still end it,
// the others of handled_signals() are blocked, and SIGTTOU is ignored. Call it first thing in main,
// with one thread. If no second process can be had, says so on stderr and exits with 125.
Link split();

// In the launcher: from now on it survives its guardian, because it watches Link::alive. Until then
// it dies with it.
void outlive_guardian();

// In the launcher: tells the guardian which directory is to be cleared when the launcher is killed
// before it could do so itself. Of the directory only what holds no file goes: files are somebody's
// results. An empty path, or one longer than PATH_MAX, means none.
void leave_directory(const Link& link, const std::string& path);

// Stops this process (SIGSTOP) until it is continued, or not at all where a blocked SIGCONT waits:
// it was to go on before it had stopped. It is also continued when the other end of the pipe behind
// `link` (Link::alive, or the guardian's end of it) is closed because the other process has ended.
void stop_until_continued(int link);

// The signals that the guardian forwards and that the launcher reads once its event loop runs; the
// guardian forwards others as well, which the launcher may block and read or leave to their default
// action. What was ignored when ddprun was started, such as SIGHUP under nohup, is not forwarded.
const std::vector<int>& handled_signals();

// Ends this process by `signo` without a core, or, where that cannot be (process 1), exits with 128
// + signo.
[[noreturn]] void end_by_signal(int signo, bool is_init);

}  // namespace ddprun::guardian
