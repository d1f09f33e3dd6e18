// A job of silent, cooperative workers that a probe then disturbs.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/observed_process.h"
#include "tests/bench/setup.h"
#include "tests/bench/stamps.h"

namespace ddprun::bench {

// Starts `command` with silent workers; owns both until the object goes.
class SilentJob {
 public:
  // Returns once all workers run and the launcher has come to rest.
  SilentJob(const Setup& setup, Words command, int workers);

  // Kills one worker, chosen at random, and returns the time before that.
  std::int64_t kill_one();
  // The end of the launcher, which must end with `code`, and the time at which it was seen.
  std::int64_t wait_for_end(int code);
  // SIGTERM to the launcher; waits for its end.
  void stop();

  pid_t pid() const { return process_.pid(); }
  const Stamps& stamps() const { return stamps_; }
  // The processes that are not workers: the guardian and the launcher.
  std::vector<pid_t> own_processes() const;

 private:
  Stamps stamps_;
  Words command_;
  ObservedProcess process_;
  std::vector<Life> lives_;
};

}  // namespace ddprun::bench
