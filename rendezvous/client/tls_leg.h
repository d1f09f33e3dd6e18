// The part of a connection that goes by TLS: its owner talks in plain through a socket of this
// process, behind which TLS begins.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "rendezvous/base/result.h"
#include "rendezvous/base/unique_fd.h"
#include "rendezvous/guard/tls_pump.h"

namespace ddprun::client {

// One thread, that of the io_context.
class TlsLeg {
 public:
  // They come from the event loop; in them the leg may be closed, and must not be destroyed.
  struct Hooks {
    // What is said reaches the server from now on. `binding`: TlsFacts::binding.
    std::function<void(const std::string& binding)> on_open;
    // How is in end(). Last, and once.
    std::function<void()> on_end;
  };

  TlsLeg() = default;
  ~TlsLeg() { close(); }
  TlsLeg(const TlsLeg&) = delete;
  TlsLeg& operator=(const TlsLeg&) = delete;

  // Takes a connected, non-blocking socket; returns the one to talk through, an AF_UNIX stream. One
  // that was open before must have been closed. Error: there are no descriptors left.
  Result<UniqueFd> open(boost::asio::io_context& io, UniqueFd secure,
                        const std::shared_ptr<const guard::Tls>& tls, Hooks hooks);
  // Closes it at once. No hook is called any more.
  void close();
  // Of the one that was opened last; as of a good end while it has not ended, or there was none.
  const guard::TlsEnd& end() const { return end_; }

 private:
  std::shared_ptr<guard::TlsPump> pump_;
  guard::TlsEnd end_;
};

}  // namespace ddprun::client
