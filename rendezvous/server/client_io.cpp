// What Impl does with the bytes of its clients.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "rendezvous/guard/tls_pump.h"
#include "rendezvous/server/holders.h"
#include "rendezvous/server/peer.h"
#include "rendezvous/server/server_impl.h"
#include "rendezvous/server/would_block.h"

namespace ddprun::server {
namespace {

constexpr std::size_t kPartsPerWrite = 64;
// So many ready sockets are asked for again at once, so many times before anything else has its
// turn.
constexpr std::size_t kMany = 4;
constexpr int kTurns = 8;
// A reply of hundreds of megabytes to a fast reader must not keep the others waiting.
constexpr std::uint64_t kBytesPerTurn = 1 << 20;
constexpr std::uint64_t kReserve =
    16;  // the part of the store's memory that keys leave to requests

// Most replies are one part, for which the kernel has a shorter way.
ssize_t send_parts(int socket, std::span<iovec> parts) {
  constexpr int kFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
  if (parts.size() == 1) return ::send(socket, parts[0].iov_base, parts[0].iov_len, kFlags);
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return ::sendmsg(socket, &message, kFlags);
}

}  // namespace

void Server::Impl::wait_for_events() {
  if (awaits_events_ || closed_ || clients_.empty()) return;
  awaits_events_ = true;
  events_ready_.async_wait(Stream::wait_read,
                           [self = shared_from_this()](const boost::system::error_code& error) {
                             self->awaits_events_ = false;
                             if (!error && !self->closed_) self->take_events();
                             self->wait_for_events();
                           });
}

// Where many are ready at a time, more are so by the time these are served, and a way through the
// event loop costs two more system calls.
void Server::Impl::take_events() {
  std::size_t taken = kMany;
  for (int turn = 0; turn < kTurns && taken >= kMany && !closed_; ++turn) {
    const auto events = events_.take();
    for (const SocketEvents::Event& event : events) {
      if (event.writable) on_writable(event.key);
      if (event.readable) on_readable(event.key);
    }
    taken = events.size();
  }
}

void Server::Impl::on_readable(ClientId id) {
  Client* client = clients_.find(id);
  if (client == nullptr) return;
  const ssize_t size = ::recv(client->socket.get(), buffer_.get(), kBufferBytes, MSG_DONTWAIT);
  if (size == 0 || (size < 0 && !would_block(errno))) return remove(id);
  if (size > 0) {
    const std::string_view bytes(buffer_.get(), static_cast<std::size_t>(size));
    if (const Complaint complaint = receive(id, *client, bytes)) {
      // Replies to good requests before the bad one are still owed.
      flush(id, *client);
      complain(id, *client, *complaint);
    }
    flush_dirty();
    drop_largest();
  }
}

Server::Impl::Complaint Server::Impl::receive(ClientId id, Client& client, std::string_view bytes) {
  if (client.identified) return serve(id, client, bytes);
  return identify(id, client, std::exchange(client.opening, {}).append(bytes));
}

Server::Impl::Complaint Server::Impl::identify(ClientId id, Client& client, std::string first) {
  const protocol::Dialect dialect = protocol::classify(first);
  if (dialect == protocol::Dialect::kUndecided) {
    client.opening = std::move(first);
    return std::nullopt;
  }
  if (dialect == protocol::Dialect::kTls && tls_door_ && !client.tls) {
    open_tls(id, client, std::move(first));
    return std::nullopt;
  }
  if (client.place) client.place->finish();
  if (dialect == protocol::Dialect::kC10d && client.of_before) {
    remove(id);
    return std::nullopt;
  }
  if (dialect == protocol::Dialect::kC10d && options_.serve_store)
    return let_in(id, client, std::move(first));
  return hand_over(id, client, dialect, std::move(first));
}

// What is inside comes as a new client, over a socket of our own.
void Server::Impl::open_tls(ClientId id, Client& client, std::string first) {
  events_.remove(client.socket.get());
  auto inside = std::make_shared<guard::TlsFacts>();
  Newcomer newcomer{.peer = client.peer, .tls = inside, .place = client.place};
  auto opened = tls_door_->open(
      std::move(client.socket), inside, [this, peer = client.peer](const std::string& why) {
        log_.write(Severity::warning, "tls",
                   "closed the connection of " + to_text(peer) + ": TLS: " + why);
      });
  const bool of_before = client.of_before;
  remove(id);
  if (!opened) return log_.write(Severity::warning, "tls", opened.error().text);
  newcomer.socket = std::move(opened->plain);
  if (const ClientId next = add_client(std::move(newcomer)); next != 0) {
    clients_.find(next)->of_before = of_before;
    clients_.find(next)->pump = opened->pump;
  }
  opened->pump->start(std::move(first));
}

std::string Server::Impl::refuse_store_client(const Client& client) const {
  if (!options_.tls) return "";
  if (!client.tls)
    return "it speaks the store's protocol without TLS; workers reach this store through their "
           "ddprun, which needs --tls-ca";
  return client.tls->used_shared_key ? "" : "it does not have the key of this store";
}

Server::Impl::Complaint Server::Impl::let_in(ClientId id, Client& client, std::string first) {
  if (std::string why = refuse_store_client(client); !why.empty()) return why;
  if (options_.guarded && !admitted_) {
    park(client, std::move(first));
    return std::nullopt;
  }
  if (options_.guarded && !admitted_->contains(address_text(client.peer)))
    return "its address belongs to no node of the round, and with a token only their workers are "
           "let into the store; if it is one of them, give that node's --local-addr";
  client.identified = true;
  return serve(id, client, first);
}

// It is told nothing and not read: a worker of another node may have been faster than the word that
// the round has begun.
void Server::Impl::park(Client& client, std::string first) {
  events_.remove(client.socket.get());
  client.opening = std::move(first);
  client.parked = true;
}

void Server::Impl::admit(const std::vector<std::string>& addresses) {
  admitted_.emplace();
  for (const std::string& address : addresses) admitted_->insert(plain_address_text(address));
  for (const ClientId id : clients_.ids()) {
    Client& client = *clients_.find(id);
    if (!std::exchange(client.parked, false)) continue;
    if (!events_.add(client.socket.get(), id)) {
      remove(id);
    } else if (const Complaint complaint = receive(id, client, {})) {
      complain(id, client, *complaint);
    }
  }
  flush_dirty();
}

Server::Impl::Complaint Server::Impl::hand_over(ClientId id, Client& client,
                                                protocol::Dialect dialect, std::string first) {
  if (client.tls && client.tls->used_shared_key)
    return "it came with the key of a store, and speaks " + std::string(protocol::name(dialect));
  if (dialect == protocol::Dialect::kTls && !tls_door_) {
    // A client of TLS can tell its user by that what is wrong.
    constexpr std::string_view kNoTls = "there is no TLS here\n";
    ::send(client.socket.get(), kNoTls.data(), kNoTls.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  if (options_.others == nullptr || !options_.others->serves(dialect)) {
    return "it speaks " + std::string(protocol::name(dialect)) + "; " + served_protocols() +
           " served here";
  }
  events_.remove(client.socket.get());
  Visitor visitor{std::move(client.socket), client.peer, std::move(first), client.tls,
                  client.place};
  remove(id);
  options_.others->take(dialect, std::move(visitor));
  return std::nullopt;
}

std::string Server::Impl::served_protocols() const {
  using protocol::Dialect;
  std::vector<std::string> names;
  if (options_.serve_store) names.emplace_back(protocol::name(Dialect::kC10d));
  for (const Dialect dialect : {Dialect::kRoster, Dialect::kTls, Dialect::kHttp}) {
    if (options_.others != nullptr && options_.others->serves(dialect))
      names.emplace_back(protocol::name(dialect));
  }
  if (names.size() == 1) return "only " + names.front() + " is";
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " and ") + names[i];
  return text + " are";
}

Server::Impl::Complaint Server::Impl::serve(ClientId id, Client& client, std::string_view bytes) {
  client.parser.feed(bytes);
  Complaint complaint = apply_all(id, client);
  count(client);
  if (complaint) return complaint;
  if (client.parser.failed()) return client.parser.error();
  if (!client.outbox.empty() || client.gone) mark_dirty(id, client);
  return std::nullopt;
}

void Server::Impl::count(Client& client) {
  const std::uint64_t now = client.parser.pending_bytes() + client.outbox.own_bytes();
  held_bytes_ += now - client.counted;
  client.counted = now;
}

// Not whoever happens to speak when the limit is passed: that is mostly somebody else. A store that
// is full of keys leaves some room, so that nobody is dropped for a request in two pieces.
void Server::Impl::drop_largest() {
  const std::uint64_t limit = options_.store_limits.max_memory_bytes;
  const std::uint64_t kept = std::min(store_->memory_bytes(), limit - limit / kReserve);
  while (held_bytes_ > limit - kept) {
    Holders holders;
    clients_.for_each([&](ClientId id, const Client& each) {
      if (each.counted > 0) holders.add(id, network_text(each.peer), each.counted);
    });
    const Holders::Largest largest = *holders.largest();
    complain(largest.id, *clients_.find(largest.id),
             "its unfinished request and unread replies of " + std::to_string(largest.held) +
                 " bytes are the largest of its address, which has most of what the store and its "
                 "clients hold, " +
                 std::to_string(store_->memory_bytes() + held_bytes_) + ", over the limit of " +
                 std::to_string(limit) + " (max_memory_bytes)");
  }
}

Server::Impl::Complaint Server::Impl::apply_all(ClientId id, Client& client) {
  const std::uint64_t limit = options_.max_unsent_bytes;
  protocol::Request request;
  while (client.parser.next(request)) {
    ++counts_.requests;
    if (Complaint refusal = store_->apply(id, request, client.outbox, woken_)) return refusal;
    if (!woken_.empty()) wake(std::exchange(woken_, {}));
    if (client.outbox.unsent_behind_first() <= limit) continue;
    client.gone = client.gone || !flush(id, client);
    if (client.gone) return std::nullopt;
    if (client.outbox.unsent_behind_first() <= limit) continue;
    return "it does not read: " + std::to_string(client.outbox.unsent_behind_first()) +
           " bytes wait behind the reply being sent, over the limit of " + std::to_string(limit) +
           " (max_unsent_bytes)";
  }
  return std::nullopt;
}

void Server::Impl::wake(const std::vector<ClientId>& woken) {
  for (const ClientId id : woken) {
    Client* client = clients_.find(id);
    client->outbox.add_code(protocol::kStopWaiting);
    client->outbox.end_reply();
    mark_dirty(id, *client);
  }
}

void Server::Impl::mark_dirty(ClientId id, Client& client) {
  if (!std::exchange(client.in_dirty, true)) dirty_.push_back(id);
}

void Server::Impl::flush_dirty() {
  for (const ClientId id : dirty_) {
    Client* client = clients_.find(id);
    if (client == nullptr) continue;
    client->in_dirty = false;
    if (client->gone || !flush(id, *client))
      remove(id);
    else
      count(*client);
  }
  dirty_.clear();
}

// Sends what the socket takes now. Returns false when the client has gone.
bool Server::Impl::flush(ClientId id, Client& client) {
  if (client.waits_to_write) return true;
  std::uint64_t sent = 0;
  while (!client.outbox.empty()) {
    std::array<iovec, kPartsPerWrite> parts;
    const std::size_t used = client.outbox.gather(parts);
    const ssize_t size = send_parts(client.socket.get(), std::span(parts).first(used));
    if (size < 0 && !would_block(errno)) return false;
    if (size > 0) client.outbox.consume(static_cast<std::uint64_t>(size));
    sent += size > 0 ? static_cast<std::uint64_t>(size) : 0;
    if (size < 0 || (sent >= kBytesPerTurn && !client.outbox.empty())) {
      want_writable(id, client, true);
      break;
    }
  }
  return true;
}

void Server::Impl::want_writable(ClientId id, Client& client, bool wanted) {
  client.waits_to_write = wanted;
  events_.want_writable(client.socket.get(), id, wanted);
}

void Server::Impl::on_writable(ClientId id) {
  Client* client = clients_.find(id);
  if (client == nullptr) return;
  want_writable(id, *client, false);
  if (!flush(id, *client)) return remove(id);
  count(*client);
}

}  // namespace ddprun::server
