// What is said of an exception that leaves the program's own code.
#pragma once

#include <string>
#include <vector>

namespace ddp::detail {

struct Failure {
  std::string message;               // "ddp::Error: text"
  std::string stack;                 // where the exception carries one, else the message again
  std::vector<int> waited_for = {};  // ddp::Error::waited_for()
};

// Of the exception being handled: call it inside a catch block.
Failure current_failure();

// Prints it on stderr with the rank, which a ddp::Error names itself: for people, and the launcher
// shows it as this rank's last output.
void tell(const std::string& text);

// Writes it into TORCHELASTIC_ERROR_FILE, where that is set, so that the launcher can tell of it.
// Empty, or why it could not be written.
std::string write_down(const Failure& failure);

// From now on an exception that nobody catches is written down as well and told with the rank,
// before the process is aborted as it would have been. Once for the process; any thread.
void report_uncaught_exceptions();

// For the ranks that will lose their connection to this one, if it has joined any.
void tell_peers(const Failure& failure);

}  // namespace ddp::detail
