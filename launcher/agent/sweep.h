// Clears up what workers have left behind once the last of them has ended.
//
// Given a moment, because much of it is dying of the signal that its worker's group got; then
// asked (SIGTERM); then killed.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <vector>

#include "launcher/output/output.h"
#include "launcher/supervise/outcome.h"

namespace ddprun::agent {

// One sweep, on the thread that runs `io`.
class Sweep {
 public:
  using OnSwept = std::function<void(std::vector<supervise::Leftover>)>;

  // Borrows both.
  Sweep(boost::asio::io_context& io, output::Output& output);

  // Stops all descendants of this process but `stuck`, workers that did not even end by SIGKILL.
  // `swept` is called, perhaps at once, when none is left; it gets those that had to be told.
  // `hurried`: kill without asking.
  void start(std::vector<pid_t> stuck, bool hurried, OnSwept swept);
  // Some child of this process has ended and was reaped.
  void on_child_ended();
  // No patience from now on. Nothing happens unless a sweep is under way.
  void hurry();

  bool under_way() const { return swept_ != nullptr; }

 private:
  void ask();
  void kill();
  void later(std::chrono::milliseconds delay, void (Sweep::*next)());
  void finish();
  std::vector<supervise::Leftover> signal_all(int signo) const;

  output::Output& output_;
  boost::asio::steady_timer timer_;
  std::vector<pid_t> stuck_;
  std::vector<supervise::Leftover> leftovers_;
  OnSwept swept_;  // set while a sweep is under way
};

}  // namespace ddprun::agent
