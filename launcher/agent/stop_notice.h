// Says whom a stop is waiting for, when it takes longer than a user would wait without a word.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "launcher/plan/launch_plan.h"
#include "launcher/supervise/outcome.h"

namespace ddprun::agent {

// One line, without newline: what has happened, which of the workers `running` (local ranks) still
// run although they got `signo`, and that SIGKILL comes `grace` behind it. `absent`: the ranks that
// the first failed worker had waited for. Pure.
std::string waiting_text(const supervise::Outcome& outcome, const plan::LaunchPlan& plan,
                         const std::vector<int>& absent, const std::vector<int>& running, int signo,
                         std::chrono::milliseconds grace);

// One thread.
class StopNotice {
 public:
  explicit StopNotice(boost::asio::io_context& io) : timer_(io) {}

  // Calls `say` from the event loop in a second, unless cancel() comes first. Only the first call
  // counts: later signals of the same stop are no news.
  void begin(std::function<void()> say);
  void cancel() { timer_.cancel(); }

 private:
  boost::asio::steady_timer timer_;
  bool begun_ = false;
};

}  // namespace ddprun::agent
