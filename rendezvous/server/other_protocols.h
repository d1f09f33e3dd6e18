// What a Server hands connections to that speak something else than the store's protocol.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <memory>
#include <string>

#include "rendezvous/base/unique_fd.h"
#include "rendezvous/protocol/classify.h"

namespace ddprun::guard {
struct TlsFacts;
}

namespace ddprun::server {

// A connection whose first bytes have told what it speaks.
struct Visitor {
  UniqueFd socket;  // connected, non-blocking
  boost::asio::ip::tcp::endpoint peer;
  std::string first;                                // all that was read so far
  std::shared_ptr<const guard::TlsFacts> tls = {};  // it came by TLS, and this is known
  std::shared_ptr<void> place = {};  // counts it among those of its address, as long as it is held
};

class OtherProtocols {
 public:
  virtual ~OtherProtocols() = default;

  virtual bool serves(protocol::Dialect dialect) const = 0;
  // Called only for what it serves, on the io_context's thread. The visitor is its own from then
  // on; it must not call back into the server.
  virtual void take(protocol::Dialect dialect, Visitor visitor) = 0;
  // Of the visitors taken, those that are still connected.
  virtual std::size_t connections() const = 0;
};

}  // namespace ddprun::server
