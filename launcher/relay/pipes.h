// A child of ours with pipes to its standard streams.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <string>
#include <vector>

#include "launcher/process/spawn.h"
#include "launcher/process/wait_status.h"
#include "rendezvous/base/result.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::relay {

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};
// Close-on-exec, both ends. The Error is the system's.
Result<Pipe> make_pipe();

// One child process. Used on the thread that runs `io`; must outlive the last handler.
class ChildProcess {
 public:
  explicit ChildProcess(boost::asio::io_context& io) : pidfd_(io) {}

  // Starts it; `ended` is called once, from the event loop. The Error names the program.
  Result<void> start(const process::SpawnRequest& request,
                     std::function<void(process::WaitStatus)> ended);
  bool runs() const { return pid_ != 0; }
  // Nothing where it has ended.
  void signal(int signo);

 private:
  void wait();

  boost::asio::posix::stream_descriptor pidfd_;
  pid_t pid_ = 0;
  std::function<void(process::WaitStatus)> ended_;
};

}  // namespace ddprun::relay
