#include "tests/bench/silent_job.h"

#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

namespace ddprun::bench {

SilentJob::SilentJob(const Setup& setup, Words command, int workers)
    : command_(std::move(command) + Words{setup.worker, "silent"}), process_(command_) {
  lives_ = stamps_.wait_for(static_cast<std::size_t>(workers));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

std::int64_t SilentJob::kill_one() {
  const Life& victim = lives_[static_cast<std::size_t>(std::rand()) % lives_.size()];
  const std::int64_t before = now_ns();
  ::kill(victim.pid, SIGKILL);
  return before;
}

std::int64_t SilentJob::wait_for_end(int code) {
  const int ended_with = process_.wait();
  const std::int64_t now = now_ns();
  expect_code(ended_with, code, command_);
  return now;
}

void SilentJob::stop() {
  ::kill(process_.pid(), SIGTERM);
  wait_for_end(128 + SIGTERM);
}

std::vector<pid_t> SilentJob::own_processes() const {
  std::vector<pid_t> found{process_.pid()};
  for (const pid_t child : children_of(process_.pid())) found.push_back(child);
  return found;
}

}  // namespace ddprun::bench
