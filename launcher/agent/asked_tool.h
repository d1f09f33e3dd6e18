// A short program of the system that is asked something; what it prints is the answer.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launcher/cli/environment.h"
#include "rendezvous/base/result.h"

namespace ddprun::agent {

// Used on the thread that runs `io`, which has to be the one that starts processes.
class AskedTool {
 public:
  // What it has written to stdout and stderr, at most 64 KiB, when it has ended with 0. The Error
  // names the program and says that it is not there, how else it ended, with its first line, or
  // that it gave no answer in time.
  using Done = std::function<void(Result<std::string>)>;

  // Starts words[0] as found in PATH of `environment`, with that environment. Borrows `io`. `done`
  // is called once, from the event loop, within `limit`.
  AskedTool(boost::asio::io_context& io, const std::vector<std::string>& words,
            const cli::Environment& environment, std::chrono::milliseconds limit, Done done);
  // Kills the program and forgets `done`.
  ~AskedTool();

 private:
  struct Running;
  std::shared_ptr<Running> running_;
};

}  // namespace ddprun::agent
