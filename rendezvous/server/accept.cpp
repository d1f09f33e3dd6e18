// Impl's life and the acceptance of clients.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "rendezvous/guard/tls_pump.h"
#include "rendezvous/server/peer.h"
#include "rendezvous/server/server_impl.h"

namespace ddprun::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr int kAcceptsPerWakeup = 64;  // then the clients that are here get their turn
constexpr std::chrono::milliseconds kAcceptPause{100};

bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

LimitedLog::Sink warnings_to(const std::function<void(std::string)>& log) {
  if (!log) return {};
  return [log](Severity, std::string line) { log(std::move(line)); };
}

std::string whose(const std::string& network, const tcp::endpoint& peer) {
  return network == address_text(peer) ? "its address" : "its network " + network;
}

// A program that is being started holds copies of our descriptors for a moment. Closing alone would
// leave such a copy in epoll, which would go on reporting a stream that is no more.
template <class Stream>
void take_out_and_close(Stream& stream) {
  if (stream.is_open()) ::close(stream.release());
}

}  // namespace

Server::Impl::Impl(asio::io_context& io, ServerOptions options, Listener listener,
                   SocketEvents events)
    : io_(io),
      options_(std::move(options)),
      port_(listener.port),
      listener_(io.get_executor(), listener.socket.release()),
      accept_timer_(io.get_executor()),
      opening_timer_(io.get_executor()),
      store_(options_.store_limits),
      peers_({.connections = options_.max_per_address,
              .unfinished = options_.max_unfinished_per_address}),
      tls_door_(options_.tls ? std::make_unique<TlsDoor>(io, options_.tls) : nullptr),
      events_(std::move(events)),
      events_ready_(io.get_executor(), events_.descriptor()),
      buffer_(std::make_unique_for_overwrite<char[]>(kBufferBytes)),
      own_log_(io, warnings_to(options_.log), Severity::warning),
      log_(options_.shared_log == nullptr ? own_log_ : *options_.shared_log) {}

void Server::Impl::start_over() {
  // What a client of before has already sent must not be taken for a request of a new one.
  while (true) {
    tcp::endpoint peer;
    UniqueFd unseen = accept_one(peer);
    if (!unseen) break;
    if (options_.others != nullptr) take_in(std::move(unseen), std::move(peer));
  }
  for (const ClientId id : clients_.ids()) {
    Client& client = *clients_.find(id);
    client.of_before = true;
    if (client.identified || options_.others == nullptr) remove(id);
  }
  admitted_.reset();
  store_.emplace(options_.store_limits);
}

void Server::Impl::stop_listening() {
  take_out_and_close(listener_);
  accept_timer_.cancel();
}

void Server::Impl::close() {
  if (closed_) return;
  closed_ = true;
  own_log_.close();
  stop_listening();
  opening_timer_.cancel();
  if (tls_door_) tls_door_->close();
  for (const ClientId id : clients_.ids()) remove(id);
  events_ready_.release();
}

ServerStatistics Server::Impl::statistics() const {
  ServerStatistics result = counts_;
  result.connections = clients_.size();
  result.addresses = peers_.addresses();
  result.most_per_address = peers_.most();
  result.tls_failed = tls_door_ ? tls_door_->failed() : 0;
  result.keys = store_->keys();
  result.memory_bytes = store_->memory_bytes() + held_bytes_;
  result.waiting = store_->waiting();
  return result;
}

void Server::Impl::wait_for_clients() {
  listener_.async_wait(Stream::wait_read,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                         if (!error && !self->closed_) self->accept_some();
                       });
}

// The next connection, or an empty descriptor with errno set.
UniqueFd Server::Impl::accept_one(tcp::endpoint& peer) {
  socklen_t size = static_cast<socklen_t>(peer.capacity());
  UniqueFd socket(
      ::accept4(listener_.native_handle(), peer.data(), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket) peer.resize(size);
  return socket;
}

void Server::Impl::accept_some() {
  for (int i = 0; i < kAcceptsPerWakeup; ++i) {
    tcp::endpoint peer;
    UniqueFd socket = accept_one(peer);
    if (socket && is_full() && !make_room()) {
      turn_away(peer);
    } else if (socket) {
      take_in(std::move(socket), std::move(peer));
    } else if (errno == EAGAIN) {
      break;
    } else if (is_shortage(errno)) {
      return pause_accepting(errno);
    }
    // Any other error is that of one connection, which has gone before it was accepted.
  }
  wait_for_clients();
}

void Server::Impl::take_in(UniqueFd socket, tcp::endpoint peer) {
  const std::string address = network_text(peer);
  if (!has_room_for(address, peer)) return;
  const int on = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ++counts_.accepted;
  add_client({std::move(socket), std::move(peer), {}, peers_.enter(address)});
}

// Whoever means well says at once what it speaks, so of those who do not the oldest goes.
bool Server::Impl::has_room_for(const std::string& address, const tcp::endpoint& peer) {
  if (peers_.is_full(address)) {
    ++counts_.over_address_limit;
    log_.write(Severity::warning, "address limit",
               "closed the connection of " + to_text(peer) + ": " + whose(address, peer) + " has " +
                   std::to_string(options_.max_per_address) +
                   " already, which is the limit (max_per_address); raise it where many hosts come "
                   "from one address" +
                   options_.limit_advice);
    return false;
  }
  if (const auto slow = slowest_of(address)) {
    ++counts_.over_address_limit;
    if (Client* client = clients_.find(*slow))
      complain(*slow, *client,
               "it has not said what it speaks, and " + whose(address, client->peer) +
                   " has more than " + std::to_string(options_.max_unfinished_per_address) +
                   " such connections (max_unfinished_per_address)" + options_.limit_advice);
  }
  return true;
}

// In a crowd it may have said what it speaks, or a part of it, and nobody has read that yet.
std::optional<Server::Impl::ClientId> Server::Impl::slowest_of(const std::string& address) {
  while (true) {
    const auto slow = peers_.too_slow(address);
    if (!slow) return {};
    if (const Client* client = clients_.find(*slow))
      if (const auto pump = client->pump.lock()) pump->hurry();
    on_readable(*slow);
    if (peers_.too_slow(address) == slow) return slow;
  }
}

Server::Impl::ClientId Server::Impl::add_client(Newcomer newcomer) {
  const int descriptor = newcomer.socket.get();
  const ClientId id = clients_.next_id(descriptor);
  if (!events_.add(descriptor, id)) {
    log_.write(
        Severity::warning, "unwatched",
        "cannot watch the connection of " + to_text(newcomer.peer) + ": " + std::strerror(errno));
    return 0;
  }
  auto client = std::make_unique<Client>(std::move(newcomer.socket), std::move(newcomer.peer),
                                         options_.limits);
  client->tls = std::move(newcomer.tls);
  client->place = std::move(newcomer.place);
  if (client->place) client->place->begin(id);
  clients_.add(descriptor, std::move(client));
  openings_.push_back({std::chrono::steady_clock::now() + options_.handshake_timeout, id});
  if (openings_.size() == 1) watch_openings();
  wait_for_events();
  return id;
}

bool Server::Impl::is_full() const {
  const std::size_t elsewhere = options_.others == nullptr ? 0 : options_.others->connections();
  const std::size_t leaving = tls_door_ ? tls_door_->leaving() : 0;
  return options_.max_connections > 0 &&
         clients_.size() + elsewhere + leaving >= options_.max_connections;
}

bool Server::Impl::make_room() {
  return tls_door_ && tls_door_->end_oldest_leaving();
}

void Server::Impl::turn_away(const tcp::endpoint& peer) {
  ++counts_.turned_away;
  log_.write(Severity::warning, "turned away",
             "closed the connection of " + to_text(peer) + ": it is one more than the limit of " +
                 std::to_string(options_.max_connections) + " connections (max_connections)" +
                 options_.limit_advice);
}

void Server::Impl::pause_accepting(int error) {
  ++counts_.accept_pauses;
  if (!std::exchange(said_accepting_paused_, true)) {
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    const std::string limit =
        error == EMFILE ? "the limit of " + std::to_string(files.rlim_cur) +
                              " open files (ulimit -n) is reached; raise it above the number of "
                              "connections"
                        : std::string(std::strerror(error));
    log_.write(
        Severity::warning, "accepting pauses",
        "accepting pauses with " + std::to_string(clients_.size()) + " connections: " + limit);
  }
  accept_timer_.expires_after(kAcceptPause);
  accept_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& failed) {
    if (!failed && !self->closed_) self->accept_some();
  });
}

void Server::Impl::watch_openings() {
  opening_timer_.expires_at(openings_.front().deadline);
  opening_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (!error && !self->closed_) self->close_silent_clients();
  });
}

void Server::Impl::close_silent_clients() {
  const auto now = std::chrono::steady_clock::now();
  while (!openings_.empty() && openings_.front().deadline <= now) {
    const ClientId id = openings_.front().client;
    openings_.pop_front();
    Client* client = clients_.find(id);
    if (client == nullptr || client->identified) continue;
    complain(id, *client, why_silent(*client));
  }
  if (!openings_.empty()) watch_openings();
}

std::string Server::Impl::why_silent(const Client& client) const {
  const std::string within =
      " within " + std::to_string(options_.handshake_timeout.count()) + " ms";
  if (client.tls && !client.tls->open) return "its TLS handshake was not over" + within;
  if (client.parked) return "no round has begun" + within;
  return "it sent " + std::to_string(client.opening.size()) + " bytes" + within +
         ", too few to tell its protocol";
}

void Server::Impl::complain(ClientId id, Client& client, const std::string& why) {
  ++(client.identified ? counts_.dropped : counts_.strangers);
  log_.write(Severity::warning, client.identified ? "store client" : "stranger",
             "closed the connection of " + to_text(client.peer) + ": " + why);
  remove(id);
}

void Server::Impl::remove(ClientId id) {
  const Client& client = *clients_.find(id);
  held_bytes_ -= client.counted;
  store_->forget(id);
  events_.remove(client.socket.get());
  clients_.remove(id);
  if (clients_.empty() && awaits_events_) events_ready_.cancel();
}

}  // namespace ddprun::server
