// The inside of Server: the port, the connections and the store they share. One thread.
//
// Written with callbacks, not coroutines: a connection is a loop of one step ("readable: take all
// whole requests, answer"), half the memory of a suspended coroutine, and closing is simple,
// because a callback that finds its client gone has nothing to do.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rendezvous/protocol/classify.h"
#include "rendezvous/protocol/request_parser.h"
#include "rendezvous/server/limited_log.h"
#include "rendezvous/server/listener.h"
#include "rendezvous/server/peer_counts.h"
#include "rendezvous/server/server.h"
#include "rendezvous/server/slots.h"
#include "rendezvous/server/socket_events.h"
#include "rendezvous/server/tls_door.h"

namespace ddprun::server {

class Server::Impl : public std::enable_shared_from_this<Server::Impl> {
 public:
  Impl(boost::asio::io_context& io, ServerOptions options, Listener listener, SocketEvents events);

  void start() { wait_for_clients(); }
  void start_over();
  void admit(const std::vector<std::string>& addresses);
  void stop_listening();
  void close();
  std::uint16_t port() const { return port_; }
  ServerStatistics statistics() const;

 private:
  static constexpr std::size_t kBufferBytes = 64 << 10;

  using ClientId = store::ClientId;
  using Executor = boost::asio::io_context::executor_type;
  using Stream = boost::asio::posix::basic_stream_descriptor<Executor>;
  using Timer = boost::asio::basic_waitable_timer<
      std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;

  struct Client {
    Client(UniqueFd connected, boost::asio::ip::tcp::endpoint from, const protocol::Limits& limits)
        : socket(std::move(connected)), peer(std::move(from)), parser(limits) {}

    UniqueFd socket;
    boost::asio::ip::tcp::endpoint peer;
    protocol::RequestParser parser;
    protocol::ReplyBuffer outbox;
    std::string opening;                       // first bytes, while they do not tell the protocol
    std::shared_ptr<guard::TlsFacts> tls;      // it came by TLS
    std::weak_ptr<guard::TlsPump> pump;        // from which it comes then
    std::shared_ptr<PeerCounts::Place> place;  // among those of its address
    bool identified = false;
    bool of_before = false;       // came before start_over(): no store client any more
    bool parked = false;          // a store client that waits for admit(), and is not read
    bool waits_to_write = false;  // events_ will tell when the socket takes bytes again
    bool in_dirty = false;
    bool gone = false;          // sending failed; it is removed at the end of the turn
    std::uint64_t counted = 0;  // of it in held_bytes_
  };
  struct Opening {
    std::chrono::steady_clock::time_point deadline;
    ClientId client;
  };
  // Why a client must be closed.
  using Complaint = std::optional<std::string>;

  // Accepting.
  void wait_for_clients();
  void accept_some();
  UniqueFd accept_one(boost::asio::ip::tcp::endpoint& peer);
  // What is known of a connection before it has said anything.
  struct Newcomer {
    UniqueFd socket;
    boost::asio::ip::tcp::endpoint peer;
    std::shared_ptr<guard::TlsFacts> tls = {};
    std::shared_ptr<PeerCounts::Place> place = {};
  };
  void take_in(UniqueFd socket, boost::asio::ip::tcp::endpoint peer);
  ClientId add_client(Newcomer newcomer);
  bool is_full() const;
  // Of one that only waits for its client to go.
  bool make_room();
  void turn_away(const boost::asio::ip::tcp::endpoint& peer);
  bool has_room_for(const std::string& address, const boost::asio::ip::tcp::endpoint& peer);
  std::optional<ClientId> slowest_of(const std::string& address);
  void pause_accepting(int error);
  void watch_openings();
  void close_silent_clients();
  std::string why_silent(const Client& client) const;

  // What the clients' sockets are ready for. Nothing is awaited while there is no client.
  void wait_for_events();
  void take_events();

  // One client's input.
  void on_readable(ClientId id);
  Complaint receive(ClientId id, Client& client, std::string_view bytes);
  Complaint identify(ClientId id, Client& client, std::string first);
  void open_tls(ClientId id, Client& client, std::string first);
  std::string refuse_store_client(const Client& client) const;
  Complaint let_in(ClientId id, Client& client, std::string first);
  void park(Client& client, std::string first);
  Complaint hand_over(ClientId id, Client& client, protocol::Dialect dialect, std::string first);
  std::string served_protocols() const;
  Complaint serve(ClientId id, Client& client, std::string_view bytes);
  Complaint apply_all(ClientId id, Client& client);
  void wake(const std::vector<ClientId>& woken);
  void count(Client& client);
  void drop_largest();

  // Output. Replies of one wake-up are gathered and sent at its end.
  void mark_dirty(ClientId id, Client& client);
  void flush_dirty();
  bool flush(ClientId id, Client& client);
  void want_writable(ClientId id, Client& client, bool wanted);
  void on_writable(ClientId id);

  void complain(ClientId id, Client& client, const std::string& why);
  void remove(ClientId id);

  boost::asio::io_context& io_;
  ServerOptions options_;
  std::uint16_t port_;
  bool closed_ = false;
  Stream listener_;
  Timer accept_timer_;
  Timer opening_timer_;
  std::deque<Opening> openings_;       // by deadline
  std::optional<store::Store> store_;  // always set; made anew by start_over()
  Slots<Client> clients_;
  std::optional<std::set<std::string>> admitted_;  // addresses; none: admit() is yet to come
  PeerCounts peers_;
  std::unique_ptr<TlsDoor> tls_door_;  // with options_.tls
  SocketEvents events_;
  Stream events_ready_;  // the descriptor of events_, which owns it: released before it goes
  bool awaits_events_ = false;
  std::unique_ptr<char[]> buffer_;  // of all reads: an idle connection has none
  std::vector<ClientId> woken_;
  std::vector<ClientId> dirty_;
  std::uint64_t held_bytes_ = 0;  // in all parsers and outboxes, but for values of the store
  bool said_accepting_paused_ = false;
  LimitedLog own_log_;
  LimitedLog& log_;
  ServerStatistics counts_;
};

}  // namespace ddprun::server
