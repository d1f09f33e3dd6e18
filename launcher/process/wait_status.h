// How a process ended.
#pragma once

namespace ddprun::process {

// A decoded wait status.
struct WaitStatus {
  enum class Kind { exited, signaled };
  Kind kind = Kind::exited;
  int value = 0;             // the exit code, or the signal's number
  bool core_dumped = false;  // only with `signaled`

  bool success() const { return kind == Kind::exited && value == 0; }
  // What a shell would show: the code, or 128 + the signal.
  int shell_code() const { return kind == Kind::exited ? value : 128 + value; }
};

}  // namespace ddprun::process
