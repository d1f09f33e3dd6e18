// A terminal with a user in front of it: a shell script runs there, the test types and reads.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "rendezvous/base/unique_fd.h"

namespace ddprun::test {

// Keys.
inline constexpr const char* kCtrlC = "\x03";
inline constexpr const char* kCtrlZ = "\x1a";
inline constexpr const char* kCtrlBackslash = "\x1c";

class Terminal {
 public:
  // Runs `script` in bash, as the leader of a session on a new terminal. `set -m` in it gives the
  // job control of an interactive shell: `fg`, `bg`, and a prompt (here the next line of the
  // script) when a job stops. $DDPRUN is the built ddprun.
  explicit Terminal(const std::string& script, const std::vector<std::string>& environment = {},
                    std::chrono::seconds limit = std::chrono::seconds(20));
  // Kills what still runs.
  ~Terminal();
  Terminal(const Terminal&) = delete;

  void type(const std::string& keys);
  // Reads until the screen shows `text`, behind what an earlier call has found. False when the
  // script ended or the limit passed before; the whole screen is in screen().
  bool shows(const std::string& text);
  const std::string& screen() const { return screen_; }
  // Waits for the end of the script and returns its exit code, -1 if the limit passed.
  int finish();

 private:
  bool read_some();

  pid_t pid_ = 0;
  UniqueFd master_;
  std::string screen_;
  std::size_t found_ = 0;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace ddprun::test
