// Finds things out that may take long or never end: a name server, a driver, a file system.
//
// Each is looked at by a child process, because a call that hangs can only be left alone.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/base/unique_fd.h"

namespace ddprun::doctor {

class Question {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts a child that calls `find_out` and passes on what it returns. This process must have no
  // other threads.
  explicit Question(const std::function<std::string()>& find_out);
  // The same by a program, given by its path; what it writes to stdout is the answer.
  static Question program(const std::vector<std::string>& words);
  // Kills the child, and leaves alone one that even so does not end.
  ~Question();
  Question(Question&& other) noexcept;

  // Waits for the answer, of at most 1 MiB. None when it was not complete at the deadline, or the
  // child could not be started. To be asked for once.
  std::optional<std::string> answer(Clock::time_point deadline);
  // From the start until the answer was complete.
  std::chrono::milliseconds took() const { return took_; }

 private:
  Question() = default;
  pid_t child_ = -1;
  UniqueFd from_;
  Clock::time_point started_ = Clock::now();
  std::chrono::milliseconds took_{0};
};

}  // namespace ddprun::doctor
