// The store behind a TCP port. PyTorch's counterpart is the server half of c10d::TCPStore.
//
// Lives on the owner's io_context and on its one thread: every function is called there, and the
// store's work is done there. Names are never looked up, a client that does not read blocks nobody,
// and a client that has said which protocol it speaks is never timed out.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rendezvous/base/result.h"
#include "rendezvous/protocol/limits.h"
#include "rendezvous/server/listener.h"
#include "rendezvous/server/other_protocols.h"
#include "rendezvous/store/store.h"

namespace ddprun::guard {
class Tls;
}

namespace ddprun::server {

class LimitedLog;

struct ServerOptions {
  std::string address = "127.0.0.1";  // an address literal, bound exactly; empty: all addresses
  std::uint16_t port = 0;             // 0: the system chooses
  // How the error about a taken port ends: names the owner's option.
  std::string port_advice = "stop it, or choose another port (0 lets the system choose)";
  protocol::Limits limits;  // not below protocol::kLimitFloor
  store::StoreLimits store_limits;
  // A connection whose first bytes are not whole by then is closed.
  std::chrono::milliseconds handshake_timeout{30'000};
  // Of all protocols, those of `others` included: a connection over it is closed when it comes.
  // 0: as many as open files allow; accepting pauses when there are no more.
  std::size_t max_connections = 0;
  // Whether c10d clients are served.
  bool serve_store = true;
  // c10d clients are served only from the addresses that admit() names; they wait for that.
  bool guarded = false;
  // Connections that begin with TLS are served, store clients only if they have its shared key;
  // others are handed over with Visitor::tls empty. None: there is no TLS.
  std::shared_ptr<const guard::Tls> tls;
  // Connections from one address (with IPv6, from one network of 64 bits): more are closed when
  // they come. 0: no limit.
  std::size_t max_per_address = 0;
  // Those of them that have not said yet what they speak: over it the oldest one is closed.
  std::size_t max_unfinished_per_address = 0;
  // How lines about these three end: what an owner without such options can do, with "; " in front.
  std::string limit_advice;
  // Gets the connections that speak something else; none: they are closed. Must outlive the server.
  OtherProtocols* others = nullptr;
  // A client is dropped when more than this waits for it behind the reply that is being sent.
  std::uint64_t max_unsent_bytes = 64 << 20;
  // Gets one line, without newline, for everything that a person should know: who was dropped and
  // why; not every one of many alike. Called on the io_context's thread; must not call back into
  // the server. May be empty.
  std::function<void(std::string)> log;
  // Where lines go in place of `log`, together with others of the owner. Must outlive the server.
  LimitedLog* shared_log = nullptr;
};

struct ServerStatistics {
  std::uint64_t connections = 0;  // open now, without those that were handed over
  std::uint64_t accepted = 0;     // since the start
  std::uint64_t strangers =
      0;  // closed because they spoke no protocol that is served here, or nothing
  std::uint64_t turned_away = 0;         // closed because there were max_connections
  std::uint64_t over_address_limit = 0;  // closed because one address had too many
  std::uint64_t addresses = 0;           // that have connections now; of IPv6, networks
  std::uint64_t most_per_address = 0;    // connections of the one that has most now
  std::uint64_t tls_failed = 0;          // TLS handshakes
  std::uint64_t dropped = 0;  // store clients closed by the server: bad request, limit, not reading
  std::uint64_t requests = 0;       // applied
  std::uint64_t accept_pauses = 0;  // times that accepting had to wait for descriptors or memory
  std::uint64_t keys = 0;
  std::uint64_t memory_bytes = 0;  // the store's and that of requests that have not arrived whole
  std::uint64_t waiting = 0;       // clients in WAIT or BARRIER
};

class Server {
 public:
  // Listens and accepts from now on; takes about 0.1 ms. Error: the address or the port cannot be
  // had, or a limit is under its floor. `io` must outlive the server.
  static Result<std::unique_ptr<Server>> listen(boost::asio::io_context& io, ServerOptions options);
  // The same on a socket that listens already.
  static Result<std::unique_ptr<Server>> serve(boost::asio::io_context& io, ServerOptions options,
                                               Listener listener);

  // As close().
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // The port that is really listened on.
  std::uint16_t port() const;

  // Closes every store client and forgets every key, for clients that are yet to come; the port
  // stays ours. Connections that were not accepted yet, or have not said what they speak, are
  // closed as well; with `others`, as soon as they turn out to be store clients.
  void start_over();

  // `guarded`: from now on, until start_over(), clients are served that come from one of these
  // addresses, literals; others are closed.
  void admit(const std::vector<std::string>& addresses);

  // Closes the port, which others can listen on at once; those who are connected are served.
  void stop_listening();

  // Closes the port and every connection; waiting clients see the end of their connection.
  // Afterwards no callback reaches the log or anything else of the owner, and io.run() is not kept
  // alive. The keys are kept until the server is destroyed.
  void close();

  ServerStatistics statistics() const;

 private:
  class Impl;
  explicit Server(std::shared_ptr<Impl> impl);

  std::shared_ptr<Impl> impl_;  // also held by the callbacks that have not run yet
};

}  // namespace ddprun::server
