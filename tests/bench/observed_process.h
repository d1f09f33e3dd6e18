// A process that the benchmark starts and looks at from outside, through /proc. Linux only. Every
// failure to observe is an exception: a figure that was not measured must not be printed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace ddprun::bench {

using Clock = std::chrono::steady_clock;

// Owns one child whose stdin, stdout and stderr are /dev/null. What is still running when the
// object goes is killed and reaped.
class ObservedProcess {
 public:
  // Starts argv[0], which is a path. Throws std::system_error when it cannot be started.
  explicit ObservedProcess(const std::vector<std::string>& argv);
  ~ObservedProcess();
  ObservedProcess(const ObservedProcess&) = delete;
  ObservedProcess& operator=(const ObservedProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Blocks until the process has ended. Returns what a shell would show: the exit code, or 128 +
  // the signal.
  int wait();

 private:
  pid_t pid_ = 0;
};

// Children, grandchildren and so on, in no order.
std::vector<pid_t> descendants(pid_t pid);

// The kernel's short name of a process; empty when it is gone.
std::string short_name(pid_t pid);

// Proportional set size: what of the memory the process has, shared pages divided among those who
// share them.
double pss_megabytes(pid_t pid);

// The descendants of `pid` that are called `name`, as soon as there are `count` of them. Throws
// std::runtime_error when there are not that many after 10 s.
std::vector<pid_t> wait_for_descendants(pid_t pid, const std::string& name, std::size_t count);

}  // namespace ddprun::bench
