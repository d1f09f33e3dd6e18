// --stdin RANK: the one worker that reads ddprun's own stdin, and job control for it where that is
// the user's terminal.
//
// What the user then sees is what a shell shows of any program: Ctrl-C ends the job, Ctrl-Z stops
// it, `fg` continues it, and a read in the background waits for `fg`. The terminal itself knows
// only the process group of that worker (see process/terminal.h); the rest is done here.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>

#include "launcher/cli/job_spec.h"
#include "launcher/guardian/guardian.h"
#include "launcher/plan/launch_plan.h"
#include "launcher/process/spawn.h"
#include "launcher/process/terminal.h"
#include "launcher/process/wait_status.h"

namespace ddprun::agent {

class StdinRank {
 public:
  // Borrows `job`. `stop` is called with the signal when the user has ended the worker by a key
  // (Ctrl-C, Ctrl-\) or by closing the terminal, which only that worker's group was told.
  StdinRank(const cli::JobSpec& job, const guardian::Link& link, std::function<void(int)> stop);

  // Lets the worker read stdin if it is the one. On a terminal it writes there as well, if its
  // output goes nowhere else: a prompt is not a whole line.
  void prepare(const plan::WorkerPlan& worker, process::SpawnRequest& request) const;
  void on_started(const plan::WorkerPlan& worker, pid_t pid);
  // Before anybody else hears of the end. True if `stop` was called.
  bool on_ended(pid_t pid, process::WaitStatus status);

  // Some child has stopped, continued or ended. True if the user has stopped the job.
  bool on_child_changed();
  // The job is about to be stopped, or is over: the shell gets its terminal back.
  void give_terminal_back() const;
  // The job was continued, in the foreground or in the background.
  void on_continued();

 private:
  const cli::JobSpec& job_;
  std::optional<process::Terminal> terminal_;
  pid_t guardian_;
  std::function<void(int)> stop_;
  pid_t pid_ = 0;         // of the worker, while it runs; its process group as well
  bool stopped_ = false;  // its stop was acted on
};

}  // namespace ddprun::agent
