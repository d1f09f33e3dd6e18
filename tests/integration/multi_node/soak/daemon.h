// A real rdzvd on loopback, on one port for all its lives.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tests/integration/support/run.h"

namespace ddprun::nodes_soak {

class Daemon {
 public:
  // Starts it. `log`: the file that it writes its log to.
  Daemon(std::string program, std::string log);

  std::uint16_t port() const { return port_; }
  void start();
  // Sends the signal and waits for its end.
  void end(int signo);
  void stop();
  void go_on();

  bool is_alive() const;
  // In use now; -1 when it does not run.
  long kilobytes() const;
  long descriptors() const;

 private:
  bool try_start();

  std::string program_, log_;
  std::uint16_t port_ = 0;
  std::unique_ptr<test::Program> running_;
};

}  // namespace ddprun::nodes_soak
