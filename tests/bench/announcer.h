// A process that says one line when it is ready, and then stays.
#pragma once

#include <string>

#include "tests/bench/observed_process.h"
#include "tests/bench/setup.h"
#include "tests/support/temporary_folder.h"

namespace ddprun::bench {

// Owns the process, which is killed when the object goes.
class Announcer {
 public:
  // Returns once the process has written a whole line to its stdout. Throws std::runtime_error when
  // it ends before, or says nothing for `seconds`.
  explicit Announcer(const Words& command, int seconds = 60);

  pid_t pid() const { return process_.pid(); }
  const std::string& line() const { return line_; }
  // The number that the line is, or that it ends with after a colon. Throws, with the line, when
  // there is none.
  double number() const;

 private:
  test::TemporaryFolder folder_;
  ObservedProcess process_;
  std::string line_;
};

}  // namespace ddprun::bench
