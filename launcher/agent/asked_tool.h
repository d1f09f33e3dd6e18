// A short program of the system that is asked something; what it prints is the answer.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/system/result.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launcher/cli/environment.h"

namespace ddprun::agent {

struct ToolFailure {
  enum class Kind {
    not_there,     // no such program in PATH
    cannot_start,  // the system could not start it
    no_answer,     // it did not end in time, and was killed
    failed,        // it ended with another code than 0, or by a signal
  };
  Kind kind = Kind::not_there;
  std::string text;         // names the program and says which of these; `failed`: its first line
  std::string output = {};  // with `failed`, as of an answer
};

// What it has written to stdout and stderr, the first 64 KiB, where it has ended with 0.
using ToolAnswer = boost::system::result<std::string, ToolFailure>;

// Used on the thread that runs `io`, which has to be the one that starts processes.
class AskedTool {
 public:
  using Done = std::function<void(ToolAnswer)>;

  // Starts words[0] as found in PATH of `environment`, with that environment. Borrows `io`. `done`
  // is called once, from the event loop, within `limit`: when the program itself has ended,
  // whatever it leaves behind.
  AskedTool(boost::asio::io_context& io, const std::vector<std::string>& words,
            const cli::Environment& environment, std::chrono::milliseconds limit, Done done);
  // Kills the program and forgets `done`.
  ~AskedTool();

 private:
  struct Running;
  std::shared_ptr<Running> running_;
};

}  // namespace ddprun::agent
