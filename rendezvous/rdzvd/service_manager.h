// What systemd and its like want to hear, and what they hand over: sd_notify(3) and
// sd_listen_fds(3), without their library.
#pragma once

#include <optional>
#include <string>

#include "rendezvous/base/result.h"
#include "rendezvous/server/listener.h"

namespace ddprun::rdzvd {

// Tells the service manager at $NOTIFY_SOCKET. Without one nothing happens; one that cannot be
// reached is no reason to stop serving.
class ServiceManager {
 public:
  ServiceManager();

  bool exists() const { return !socket_.empty(); }
  // "READY=1\nSTATUS=…": lines of NAME=value.
  void tell(const std::string& state) const;

 private:
  std::string socket_;
};

// The listening socket that a service manager has opened for this process ($LISTEN_PID,
// $LISTEN_FDS), nothing if there is none. The variables are taken out. Error: it is not exactly one
// listening TCP socket.
Result<std::optional<server::Listener>> take_listener();

}  // namespace ddprun::rdzvd
