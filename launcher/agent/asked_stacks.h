// The stacks of workers that go on, written because somebody asks for them (rdzvctl stacks).
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "launcher/process/spawn.h"
#include "launcher/stacks/stack_taker.h"
#include "rendezvous/base/result.h"

namespace ddprun::agent {

// The files of `ranks` (global, sorted, not empty) in `folder`, as a shell takes them:
// "/logs/stacks_1/rank_0.txt", ".../rank_{0..3}.txt", ".../rank_{0,2}.txt". Pure.
std::string rank_files(const std::string& folder, const std::vector<int>& ranks);

// Used on the thread that runs `io`, which has to be the one that starts processes.
class AskedStacks {
 public:
  // The folder with the files, or why there are none.
  using Done = std::function<void(Result<std::string>)>;

  // Borrows `io`. `search_path` is the text of PATH.
  AskedStacks(boost::asio::io_context& io, process::SpawnSettings settings,
              std::string search_path);

  // Makes `folder` and writes the files of `targets`, which are in it, within twelve seconds.
  // `done` is called once, from the event loop. One question at a time: another one gets an Error.
  void take(const std::string& folder, std::vector<stacks::Target> targets, Done done);
  // The workers end: no debugger is left when this returns, and `done` gets an Error.
  void cancel();

 private:
  void take_next();
  void finish(Result<std::string> result);

  boost::asio::io_context& io_;
  stacks::StackTaker taker_;
  std::string folder_;
  std::vector<stacks::Target> waiting_;
  std::chrono::milliseconds limit_{};  // of those that are taken at once
  Done done_;
};

}  // namespace ddprun::agent
