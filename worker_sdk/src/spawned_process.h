// One process of spawn: its pid, and the pipe through which it says how it got on.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/base/unique_fd.h"
#include "worker_sdk/src/spawn_order.h"

namespace ddp::detail {

class SpawnedProcess {
 public:
  // Executes this program again with the parent's command line. The child is killed when the
  // calling thread ends. Throws std::system_error.
  SpawnedProcess(int rank, int order_fd, std::vector<std::string> environment);
  ~SpawnedProcess();  // kills it if it still runs
  SpawnedProcess(SpawnedProcess&& other) noexcept;
  SpawnedProcess(const SpawnedProcess&) = delete;
  SpawnedProcess& operator=(const SpawnedProcess&) = delete;

  bool running() const { return !status_; }
  // Become readable when it has ended, and when it has said something.
  int pidfd() const { return pidfd_.get(); }
  int answer() const { return answer_.get(); }  // -1 once it will say nothing more

  // Takes in what has happened, without waiting.
  void update();
  // Except SIGKILL not to one that is already ending, whose own end is to count.
  void send(int signal);

  // How it failed, once it has; nothing as long as all is well.
  std::optional<std::string> failure() const;
  // Whether it ended badly without an exception and not because of send(): a signal from elsewhere,
  // or an exit code of its own.
  bool ended_unasked() const;
  // When its exception was caught, in nanoseconds of CLOCK_MONOTONIC; 0 if it ended without one.
  std::int64_t thrown_at() const;

 private:
  void read_answer();
  std::optional<SpawnReason> reason() const;

  pid_t pid_ = -1;
  ddprun::UniqueFd pidfd_, answer_;
  std::string said_;
  std::vector<int> sent_;
  std::optional<int> status_;
};

}  // namespace ddp::detail
