// A process that the benchmark starts and looks at from outside, through /proc. Linux only. Every
// failure to observe is an exception: a figure that was not measured must not be printed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ddprun::bench {

// Owns one child whose stdin and stderr are /dev/null, as is its stdout unless a file is given.
// What is still running when the object goes is killed and reaped, and it is killed when the thread
// that started it ends: a benchmark that is killed leaves nobody behind.
class ObservedProcess {
 public:
  // Starts argv[0], which is a path. Throws std::system_error when it cannot be started.
  explicit ObservedProcess(const std::vector<std::string>& argv,
                           const std::string& output = "/dev/null");
  ~ObservedProcess();
  ObservedProcess(const ObservedProcess&) = delete;
  ObservedProcess& operator=(const ObservedProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Blocks until the process has ended. Returns what a shell would show: the exit code, or 128 +
  // the signal. Throws std::runtime_error when it has not ended after so many seconds.
  int wait(int seconds = 120);

 private:
  void wait_for_end(int seconds) const;

  pid_t pid_ = 0;
  std::string name_;
};

// The children of a process, in no order; empty when it is gone.
std::vector<pid_t> children_of(pid_t pid);

// Proportional set size: what of the memory the process has, shared pages divided among those who
// share them.
double pss_megabytes(pid_t pid);

// The CPU time of all its threads so far.
double cpu_milliseconds(pid_t pid);

// How often the process was given a CPU so far: its voluntary and involuntary context switches.
std::int64_t context_switches(pid_t pid);

}  // namespace ddprun::bench
