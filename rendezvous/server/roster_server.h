// The rendezvous server: roster, status pages and a store behind one TCP port. rdzvd is a main
// around it, and ddprun hosts one at the endpoint of its job.
//
// Lives on the owner's io_context and on its one thread, as Server does: every function is called
// there, and every callback comes from there, never from inside a call.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/base/result.h"
#include "rendezvous/roster/runs.h"
#include "rendezvous/server/keeper.h"
#include "rendezvous/server/listener.h"
#include "rendezvous/server/server.h"
#include "rendezvous/server/severity.h"

namespace ddprun::guard {
class Token;
}

namespace ddprun::server {

struct RosterServerOptions {
  // Where to listen, as ServerOptions; not used with `listener`, a socket that listens already.
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  std::string port_advice = "stop it, or choose another port (0 lets the system choose)";
  std::optional<Listener> listener;

  // Who serves. An empty `id` is replaced by a random one.
  roster::Server identity;
  roster::RunsOptions runs;
  bool http = true;
  // c10d store clients on this port meet one store, which belongs to no run; else they are closed.
  bool store = true;
  protocol::Limits limits;
  store::StoreLimits store_limits;

  // Until a connection's first bytes tell its protocol, until an agent's first message is whole,
  // and until an HTTP request is whole.
  std::chrono::milliseconds handshake_timeout{30'000};
  // Of all protocols; a connection over it is closed at once. 0: as many as open files allow.
  std::size_t max_connections = 0;
  // Agents, rdzvctl and pages have to show it; none: everybody is served. The store is then open to
  // the clients alone that admit_store_clients() names.
  std::shared_ptr<const guard::Token> token;
  // Agents, rdzvctl and pages have to come by TLS, and store clients with its shared key; none:
  // there is no TLS.
  std::shared_ptr<const guard::Tls> tls;
  // Agents, rdzvctl and pages have to show a certificate as well.
  bool needs_certificate = false;
  // As ServerOptions.
  std::size_t max_per_address = 0;
  std::size_t max_unfinished_per_address = 0;
  std::string limit_advice;
  // What the roster and the pages may hold, about: half of it for the runs' state (newcomers over
  // it are refused), a quarter for agents' unfinished messages and unread answers (whoever holds
  // most is dropped), a quarter for pages that are not read yet (503). The store has its own limit
  // in store_limits.
  std::uint64_t max_memory_bytes = 1 << 30;

  // Where the runs are kept, for the next server to find them; the server then stands by until
  // take_office(). Must outlive it. None: they live and end with this one.
  Keeper* keeper = nullptr;

  // One line, without newline and printable. debug and info: what the roster decided and why.
  // warning: who was closed or refused and why. Of many lines alike within ten seconds only the
  // first are written, and one that counts the others. Lines below `log_from` are not made. May be
  // empty.
  std::function<void(Severity, std::string)> log;
  Severity log_from = Severity::info;
  // The last roster connection has ended: whoever hosts the server for one job may go when the job
  // is over. May be empty.
  std::function<void()> on_idle;
};

struct RosterServerStatistics {
  ServerStatistics port;                 // and of the store; `connections` are those of the store
                                         // and those that have not said what they speak
  std::uint64_t roster_connections = 0;  // open now
  std::uint64_t http_connections = 0;    // open now
  std::uint64_t messages = 0;            // from agents and rdzvctl
  std::uint64_t roster_dropped = 0;      // bad messages, too slow, over a limit
  std::uint64_t tokens_refused = 0;      // connections and requests without the right token
  std::uint64_t refused = 0;             // agents told why they cannot be members
  std::uint64_t http_requests = 0;
  std::uint64_t memory_bytes = 0;  // against max_memory_bytes
  std::size_t runs = 0;            // now
};

class RosterServer {
 public:
  // Listens and serves from now on. Error: the address or the port cannot be had, or a limit is
  // under its floor. `io` must outlive the server.
  static Result<std::unique_ptr<RosterServer>> listen(boost::asio::io_context& io,
                                                      RosterServerOptions options);

  // As close().
  ~RosterServer();
  RosterServer(const RosterServer&) = delete;
  RosterServer& operator=(const RosterServer&) = delete;

  // The port that is really listened on.
  std::uint16_t port() const;
  // roster::Server::id.
  const std::string& id() const;

  // Closes the store's clients and forgets its keys, for the clients of a new round on the same
  // port. Agents and pages are not touched.
  void start_store_over();
  // With a token: the addresses of the nodes in the round that begins, see Server::admit().
  void admit_store_clients(const std::vector<std::string>& addresses);

  // Newcomers have to show this one from now on. Not from a token to none, nor from none to one.
  void set_token(std::shared_ptr<const guard::Token> token);

  // With a keeper: serves from now on, with the runs that the server before it has left.
  void take_office(const std::vector<protocol::Record>& records);
  // Closes the connections of agents and forgets the runs at once, without a word: they are
  // somebody else's. Who comes is told `where`. Also where only that has changed.
  void stand_by(protocol::Elsewhere where);

  // No agent is connected, and none still has to read a last word.
  bool idle() const;

  // All runs with all their nodes: costs what they are. For their number see statistics().
  std::vector<roster::Snapshot> snapshots() const;
  RosterServerStatistics statistics() const;

  // Tells all agents that the server ends and why, stops listening, and closes each connection when
  // it has been told, after `limit` in any case. Then `done` is called, once; close() forgets it.
  void shut_down(const std::string& why, std::chrono::milliseconds limit,
                 std::function<void()> done);

  // Closes the port and every connection at once; agents see the end of their connection. No
  // callback comes any more.
  void close();

 private:
  class Impl;
  explicit RosterServer(std::shared_ptr<Impl> impl);

  std::shared_ptr<Impl> impl_;  // also held by the callbacks that have not run yet
};

}  // namespace ddprun::server
