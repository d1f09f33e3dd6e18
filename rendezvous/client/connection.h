// A TCP connection on which every step has a deadline. Blocking; one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "rendezvous/base/result.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::client {

using Clock = std::chrono::steady_clock;

class Connection {
 public:
  // One attempt: looks `host` up (a name or an address) and tries its addresses in turn until one
  // accepts. The look-up itself cannot be interrupted and may take longer than the deadline.
  static Result<Connection> open(const std::string& host, std::uint16_t port,
                                 Clock::time_point deadline);

  // Sends all of `bytes`. Error: the peer has gone, or does not take them by the deadline.
  Result<void> send(std::string_view bytes, Clock::time_point deadline);

  // Up to 64 KiB of what has arrived, at least one byte; waits for it. Valid until the next call.
  // Error: the peer has gone, or nothing came by the deadline.
  Result<std::string_view> receive(Clock::time_point deadline);

  // Whether receive() would return at once; waits for that until the deadline.
  bool readable(Clock::time_point deadline) const;

 private:
  explicit Connection(UniqueFd socket) : socket_(std::move(socket)) {}

  UniqueFd socket_;
  std::string buffer_;
};

}  // namespace ddprun::client
