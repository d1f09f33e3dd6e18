// A TCP connection on which every step has a deadline. Blocking; one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rendezvous/base/result.h"
#include "rendezvous/base/unique_fd.h"

namespace ddprun::guard {
class Tls;
class TlsStream;
}  // namespace ddprun::guard

namespace ddprun::client {

using Clock = std::chrono::steady_clock;

class Connection {
 public:
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&& other) noexcept;
  ~Connection();

  // One attempt: looks `host` up (a name or an address) and tries its addresses in turn until one
  // accepts. The look-up itself cannot be interrupted and may take longer than the deadline.
  // `peer` is what messages call the other side: "the store".
  static Result<Connection> open(const std::string& host, std::uint16_t port,
                                 Clock::time_point deadline, std::string peer);

  // Goes on by TLS. Error: the server is not the one that `tls` wants, or speaks none.
  Result<void> secure(std::shared_ptr<const guard::Tls> tls, Clock::time_point deadline);
  // Names the TLS session; empty without one.
  std::string binding() const;

  // Sends all of `bytes`. Error: the peer has gone, or does not take them by the deadline.
  Result<void> send(std::string_view bytes, Clock::time_point deadline);

  // Up to 64 KiB of what has arrived, at least one byte; waits for it. Valid until the next call.
  // Error: the peer has gone, or nothing came by the deadline.
  Result<std::string_view> receive(Clock::time_point deadline);

  // Whether receive() would return at once; waits for that until the deadline.
  bool readable(Clock::time_point deadline) const;

 private:
  Connection(UniqueFd socket, std::string peer);
  Error lost(const std::string& what) const;
  Result<void> send_raw(std::string_view bytes, Clock::time_point deadline);
  Result<std::string_view> receive_raw(Clock::time_point deadline);

  UniqueFd socket_;
  std::string peer_;
  std::string buffer_;
  std::unique_ptr<guard::TlsStream> tls_;
  std::string plain_;  // the last that was received by TLS
};

}  // namespace ddprun::client
