// An agent's connection to the server of its run: finds it, keeps it alive, says why it is gone.
//
// Where several rdzvds are one, all of them are tried by turns, and the one that answers says where
// the head is. A head that is lost is looked for from the beginning.
//
// Messages are the owner's business; pings are answered here, so that an agent is alive as long as
// its event loop is.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "rendezvous/base/endpoint.h"
#include "rendezvous/protocol/roster_messages.h"

namespace ddprun::guard {
class Tls;
class Token;
}  // namespace ddprun::guard

namespace ddprun::client {

struct RosterClientOptions {
  std::string host;  // a name, or a literal without brackets
  std::uint16_t port = 0;
  // More places where it may be.
  std::vector<Endpoint> others = {};
  // While rdzvds answer that there is no head now, the patience of connect() begins anew with each
  // answer, up to this; 0: it does not.
  std::chrono::nanoseconds headless_patience{};
  // The server has to know it, and is told nothing before it has shown that; none: so may not the
  // server have one.
  std::shared_ptr<const guard::Token> token = {};
  // The server is reached by TLS, and its certificate has to be for its host, here `host`; none:
  // without.
  std::shared_ptr<const guard::Tls> tls = {};
  // Between two tries; doubles from the first to the longest. Nodes that are started together find
  // the server a few milliseconds later than they look for it.
  std::chrono::milliseconds first_pause{2};
  std::chrono::milliseconds longest_pause{500};
  std::chrono::milliseconds connect_timeout{5'000};     // of one address
  std::chrono::milliseconds handshake_timeout{10'000};  // until the server's opening is there
  std::chrono::milliseconds answer_timeout{60'000};     // until it has answered Join
  // A program that takes connections and closes each without a word is a stranger after so long; a
  // server may do so for a moment while it starts or ends.
  std::chrono::milliseconds stranger_after{5'000};
  // RosterConnected comes when the server's opening is there, so that nothing is said to others.
  bool connected_when_answered = false;
  // A look-up that takes longer is told; it goes on.
  std::chrono::milliseconds slow_look_up{1'000};
};

// Connected, and with a token the server has shown that it knows it: say Join now. It comes once
// more if the connection ends before the server has answered.
struct RosterConnected {
  std::string local_address;  // a literal
  std::string host = {};      // of the server, where it is not RosterClientOptions::host
};
// Nobody could be reached yet; trying goes on. Told when `why` changes.
struct RosterUnreachable {
  std::string why;              // "connection refused"
  bool nobody_listens = false;  // that is it
};
// The connection has ended, or the server is silent. Nothing more comes; connect() begins anew.
struct RosterLost {
  std::string why;  // "its connection was reset"
};
// There is no hope, or the time is over. Nothing more comes.
struct RosterGaveUp {
  std::string why;        // one line, names the endpoint
  bool stranger = false;  // another program has the port
};

using RosterEvent = std::variant<RosterConnected, protocol::ServerMessage, RosterUnreachable,
                                 RosterLost, RosterGaveUp>;

// Used on the thread that runs `io` only. Events come from the event loop, never from inside a
// call.
class RosterClient {
 public:
  using OnEvent = std::function<void(RosterEvent)>;

  // Borrows `io`. Nothing is done yet.
  RosterClient(boost::asio::io_context& io, RosterClientOptions options, OnEvent on_event);
  // As close().
  ~RosterClient();
  RosterClient(const RosterClient&) = delete;
  RosterClient& operator=(const RosterClient&) = delete;

  // Tries until a server has answered or `patience` has passed, first after `pause`; of several
  // each is tried once at least. What was there before is forgotten. `of`: the whole span that is
  // told at the end, where the owner has spent some of it already.
  void connect(std::chrono::nanoseconds patience, std::chrono::nanoseconds pause = {},
               std::optional<std::chrono::nanoseconds> of = {});
  // Queues one message; without a connection it is dropped.
  void send(const protocol::AgentMessage& message);
  // Everything that was sent has been handed to the kernel.
  bool flushed() const;
  // Ends the connection at once. No event comes any more.
  void close();

 private:
  class Connection;

  boost::asio::io_context& io_;
  RosterClientOptions options_;
  OnEvent on_event_;
  std::shared_ptr<Connection> connection_;
};

}  // namespace ddprun::client
