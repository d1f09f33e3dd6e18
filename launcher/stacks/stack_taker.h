// Writes the stacks of running processes to files, all at once and within a time limit.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launcher/process/spawn.h"
#include "launcher/stacks/tool.h"

namespace ddprun::stacks {

// More at once would bring the machine down: a debugger reads all symbols of its process.
inline constexpr std::size_t kMostProcesses = 16;

struct Target {
  pid_t pid = 0;
  std::string title;  // the first line of the file
  std::string file;
};

// Used on the thread that runs `io`, which has to be the one that starts processes. Costs nothing
// before take().
class StackTaker {
 public:
  // Borrows `io`. `search_path` is the text of PATH.
  StackTaker(boost::asio::io_context& io, process::SpawnSettings settings, std::string search_path);
  ~StackTaker();

  // Starts a debugger for each target, at most kMostProcesses of them. The file of one that a
  // signal has stopped says so. What has no frames after
  // `limit` gets what /proc tells instead. `done` is called once from the event loop; the files are
  // complete then. One call at a time.
  void take(std::vector<Target> targets, std::chrono::milliseconds limit,
            std::function<void()> done);
  // Kills the debuggers and forgets `done`.
  void cancel();

 private:
  struct Running;

  void start(const Target& target);
  void watch(Running& running);
  void conclude();

  boost::asio::io_context& io_;
  process::SpawnSettings settings_;
  std::string search_path_;
  Tool tool_;
  boost::asio::steady_timer timer_;
  std::vector<Target> targets_;
  std::vector<std::unique_ptr<Running>> running_;
  std::function<void()> done_;
};

}  // namespace ddprun::stacks
