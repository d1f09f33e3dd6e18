#include "rendezvous/client/roster_client.h"

#include <array>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "rendezvous/base/silence.h"
#include "rendezvous/base/span_text.h"
#include "rendezvous/client/look_up.h"
#include "rendezvous/client/server_search.h"
#include "rendezvous/client/strangers.h"
#include "rendezvous/client/tls_leg.h"
#include "rendezvous/guard/handshake.h"
#include "rendezvous/guard/tls.h"
#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/protocol/roster_frames.h"

namespace ddprun::client {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

using Socket = boost::asio::generic::stream_protocol::socket;

tcp::endpoint tcp_endpoint(const Socket::endpoint_type& any) {
  tcp::endpoint endpoint;
  if (any.size() == 0 || any.size() > endpoint.capacity()) return endpoint;
  std::memcpy(endpoint.data(), any.data(), any.size());
  endpoint.resize(any.size());
  return endpoint;
}

constexpr const char* kNoAnswer = "no answer in time";
constexpr const char* kSilent = "somebody takes connections there and says nothing";

// "Connection refused" within a sentence.
std::string lower_first(std::string text) {
  if (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a')
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

std::string ending_text(const error_code& error) {
  if (error == boost::asio::error::eof) return "its connection was closed";
  if (error == boost::asio::error::connection_reset) return "its connection was reset";
  return "its connection failed: " + lower_first(error.message());
}

ServerSearchOptions search_options(const RosterClientOptions& options) {
  ServerSearchOptions search{.places = {{options.host, options.port}},
                             .headless_patience = options.headless_patience,
                             .first_pause = options.first_pause,
                             .longest_pause = options.longest_pause,
                             .stranger_after = options.stranger_after};
  search.places.insert(search.places.end(), options.others.begin(), options.others.end());
  return search;
}

}  // namespace

// One connect() and what follows from it. Callbacks hold it, so that it may be closed at any time.
class RosterClient::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(boost::asio::io_context& io, const RosterClientOptions& options, OnEvent on_event,
             std::chrono::nanoseconds patience, std::chrono::nanoseconds first_pause,
             std::chrono::nanoseconds told_patience)
      : io_(io),
        options_(options),
        on_event_(std::move(on_event)),
        search_(search_options(options), patience, told_patience, Clock::now()),
        first_pause_(first_pause),
        socket_(io),
        step_(io),
        end_(io),
        next_look_(io) {}

  void start() {
    wait_for_end();
    if (first_pause_ > first_pause_.zero()) return look_up_after(first_pause_);
    look_up();
  }

  void send(const protocol::AgentMessage& message) {
    if (closed_ || !socket_.is_open() || !connected_) return;
    protocol::encode(queued_, message);
    write();
  }

  bool flushed() const { return queued_.empty() && writing_.empty(); }

  void close() {
    closed_ = true;
    look_up_.reset();
    error_code ignored;
    socket_.close(ignored);
    tls_leg_.close();
    step_.cancel();
    end_.cancel();
    next_look_.cancel();
  }

 private:
  void tell(RosterEvent event) {
    if (!closed_) on_event_(std::move(event));
  }

  // The last event.
  void finish(RosterEvent event) {
    if (closed_) return;
    close();
    on_event_(std::move(event));
  }

  void wait_for_end() {
    end_.expires_at(search_.deadline());
    end_.async_wait([self = shared_from_this()](error_code canceled) {
      if (!canceled && !self->closed_ && !self->answered_) self->end_in_time();
    });
  }

  // Whether it has.
  bool end_in_time() {
    if (!search_.is_over(Clock::now())) return false;
    finish(RosterGaveUp{search_.out_of_time(connected_)});
    return true;
  }

  void look_up_after(std::chrono::nanoseconds pause) {
    step_.expires_after(pause);
    step_.async_wait([self = shared_from_this()](error_code canceled) {
      if (!canceled && !self->closed_) self->look_up();
    });
  }

  void look_up() {
    search_.found("looking up '" + search_.here().host + "' has no answer yet");
    step_.expires_after(options_.slow_look_up);
    step_.async_wait([self = shared_from_this()](error_code canceled) {
      if (!canceled && !self->closed_) self->tell_news(self->search_.take_news());
    });
    look_up_.emplace(io_, search_.here().host, [self = weak_from_this()](Result<Addresses> found) {
      if (const auto alive = self.lock()) alive->on_looked_up(std::move(found));
    });
  }

  void on_looked_up(Result<Addresses> found) {
    if (closed_) return;
    step_.cancel();
    if (!found)
      return try_later("'" + search_.here().host +
                       "' cannot be looked up: " + lower_first(found.error().text));
    addresses_ = std::move(*found);
    next_ = 0;
    search_.found(kNoAnswer);
    connect_next();
  }

  void connect_next() {
    if (next_ >= addresses_.size()) return try_later(search_.problem());
    error_code ignored;
    socket_.close(ignored);
    connected_ = false;
    const tcp::endpoint to(addresses_[next_++], search_.here().port);
    step_.expires_after(options_.connect_timeout);
    step_.async_wait([self = shared_from_this()](error_code canceled) {
      error_code closed;
      if (!canceled && !self->closed_ && !self->connected_) self->socket_.close(closed);
    });
    socket_.async_connect(Socket::endpoint_type(to),
                          [self = shared_from_this()](error_code failed) {
                            if (!self->closed_) self->on_connected(failed);
                          });
  }

  void on_connected(error_code failed) {
    step_.cancel();
    if (failed) {
      search_.on_refused();
      nobody_listens_ = failed == boost::asio::error::connection_refused;
      search_.found(failed == boost::asio::error::operation_aborted
                        ? kNoAnswer
                        : lower_first(failed.message()));
      return connect_next();
    }
    connected_ = true;
    nobody_listens_ = false;
    error_code ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
    const tcp::endpoint here = tcp_endpoint(socket_.local_endpoint(ignored));
    const tcp::endpoint there = tcp_endpoint(socket_.remote_endpoint(ignored));
    // The kernel can connect a port in its own range to itself.
    if (here == there) {
      search_.found("connection refused");
      return connect_next();
    }
    parser_ = {};
    received_any_ = false;
    queued_.clear();
    search_.found(kSilent);
    local_address_ = here.address().to_string();
    wait_for_opening();
    if (options_.tls) return open_tls();
    begin_talk("");
  }

  // Whoever is named as the head has to be that host.
  std::shared_ptr<const guard::Tls> tls() const {
    const std::string& host = search_.here().host;
    return host == options_.host ? options_.tls : options_.tls->for_peer(host);
  }

  void open_tls() {
    error_code ignored;
    auto plain = tls_leg_.open(io_, UniqueFd(socket_.release(ignored)), tls(),
                               {.on_open =
                                    [self = weak_from_this()](const std::string& binding) {
                                      if (const auto alive = self.lock())
                                        alive->begin_talk(binding);
                                    },
                                .on_end =
                                    [self = weak_from_this()] {
                                      if (const auto alive = self.lock()) alive->on_tls_end();
                                    }});
    if (!plain) return try_later(plain.error().text);
    socket_.assign({AF_UNIX, 0}, plain->release(), ignored);
  }

  // Once there was something to read, its end tells; this says how it came.
  void on_tls_end() {
    if (talks_) return;
    const guard::TlsEnd& end = tls_leg_.end();
    if (end.refused) return give_up_on_tls();
    if (search_.is_silent_stranger(Clock::now()))
      return give_up(
          ": " + end.why +
          "; if the server is to speak TLS start it with --tls-cert and --tls-key, else leave "
          "--tls-ca out here");
    try_later(end.why);
  }

  void give_up_on_tls() { give_up(": TLS: " + tls_leg_.end().why); }

  void begin_talk(const std::string& binding) {
    talks_ = true;
    protocol::encode_opening(queued_, protocol::kRosterProtocol);
    read();
    handshake_.reset();
    if (options_.token) {
      handshake_.emplace(options_.token, binding);
      protocol::encode(queued_, protocol::AgentMessage(handshake_->challenge()));
    } else if (!options_.connected_when_answered) {
      tell_connected();
    }
    write();
  }

  void wait_for_opening() {
    step_.expires_after(options_.handshake_timeout);
    step_.async_wait([self = shared_from_this()](error_code canceled) {
      if (canceled || self->closed_ || self->open_) return;
      self->try_later(kSilent);
    });
  }

  void read() {
    socket_.async_read_some(
        boost::asio::buffer(buffer_),
        [self = shared_from_this(), from = generation_](error_code failed, std::size_t size) {
          if (self->closed_ || from != self->generation_) return;
          if (failed) return self->on_ended(failed);
          self->on_bytes({self->buffer_.data(), size});
        });
  }

  void on_ended(const error_code& error) {
    const guard::TlsEnd& tls = tls_leg_.end();
    if (open_) return fail(tls.why.empty() ? ending_text(error) : tls.why);
    // In TLS 1.3 a client talks before the server has looked at its certificate.
    if (tls.refused) return give_up_on_tls();
    if (!received_any_ && search_.is_silent_stranger(Clock::now()))
      return give_up(" is neither ddprun nor rdzvd: for " + span_text(options_.stranger_after) +
                         " it has closed each connection without a word",
                     true);
    try_later("it closed the connection without a word");
  }

  // The server is one, but the connection is of no use any more.
  void fail(std::string why) {
    if (answered_) return finish(RosterLost{std::move(why)});
    try_later(std::move(why) + " before it had answered");
  }

  void on_bytes(std::string_view bytes) {
    parser_.feed(bytes);
    if (silence_) silence_->heard(Clock::now());
    received_any_ = true;
    const int from = generation_;
    while (const auto frame = parser_.next()) {
      open();
      if (!closed_) take(*frame);
      if (closed_ || from != generation_) return;
    }
    if (parser_.failed() && !parser_.peer_number()) return give_up_on_stranger(bytes);
    if (parser_.failed())
      return fail("what it sends is not the roster protocol: " + parser_.error());
    if (parser_.peer_number()) open();
    if (!closed_ && from == generation_) read();
  }

  void open() {
    if (std::exchange(open_, true)) return;
    search_.on_server();
    search_.found("it takes connections and does not answer");
    step_.expires_after(options_.answer_timeout);
    step_.async_wait([self = shared_from_this()](error_code canceled) {
      if (canceled || self->closed_ || self->answered_) return;
      self->try_later("it takes connections and has not answered for " +
                      span_text(self->options_.answer_timeout) + " (read_timeout)");
    });
    if (options_.connected_when_answered && !handshake_) tell_connected();
  }

  void tell_connected() {
    const std::string& host = search_.here().host;
    tell(RosterConnected{local_address_, host == options_.host ? "" : host});
  }

  void answered() {
    if (std::exchange(answered_, true)) return;
    step_.cancel();
    end_.cancel();
  }

  void give_up_on_stranger(std::string_view bytes) {
    give_up(" is taken by " + describe_stranger(bytes), true);
  }

  void take(std::string_view json) {
    auto message = protocol::decode_server_message(json);
    if (*parser_.peer_number() != protocol::kRosterProtocol)
      return take_from_other_version(message);
    if (!message) return fail("it sent a message that cannot be read: " + message.error().text);
    if (handshake_ && !handshake_->done()) return show_token(*message);
    if (const auto* ping = std::get_if<protocol::Ping>(&*message))
      return send(protocol::Pong{ping->id});
    if (const auto* elsewhere = std::get_if<protocol::Elsewhere>(&*message))
      return go_elsewhere(*elsewhere);
    answered();
    if (const auto* welcome = std::get_if<protocol::Welcome>(&*message)) {
      silence_limit_ = welcome->ping_interval * welcome->ping_attempts;
      silence_.emplace(Clock::now(), silence_limit_);
      watch_silence();
    }
    tell(std::move(*message));
  }

  void show_token(const protocol::ServerMessage& message) {
    if (const auto* refused = std::get_if<protocol::Refused>(&message))
      return give_up(": " + refused->why);
    const auto step = handshake_->on_message(message);
    if (!step.stranger.empty()) return give_up(": " + step.stranger, true);
    if (step.say) send(*step.say);
    if (handshake_->done()) tell_connected();
  }

  // Of another protocol only Refused is sure to be understood.
  void take_from_other_version(Result<protocol::ServerMessage>& message) {
    std::string why = "it speaks version " + std::to_string(*parser_.peer_number()) +
                      " of the roster protocol, this ddprun version " +
                      std::to_string(protocol::kRosterProtocol);
    if (message)
      if (const auto* refused = std::get_if<protocol::Refused>(&*message)) why = refused->why;
    give_up(": " + why);
  }

  void go_elsewhere(const protocol::Elsewhere& elsewhere) {
    const ServerSearch::Next next = search_.go_elsewhere(elsewhere, Clock::now());
    wait_for_end();
    follow(next);
  }

  void watch_silence() {
    next_look_.expires_at(silence_->next_look());
    next_look_.async_wait([self = shared_from_this()](error_code canceled) {
      if (canceled || self->closed_) return;
      // Something may be in the socket that was not read yet.
      error_code failed;
      const bool more = self->socket_.available(failed) > 0 && !failed;
      if (more) self->silence_->heard(Clock::now());
      if (!self->silence_->is_too_long(Clock::now())) return self->watch_silence();
      self->finish(RosterLost{"it was silent for " + span_text(self->silence_limit_)});
    });
  }

  void write() {
    if (!writing_.empty() || queued_.empty()) return;
    std::swap(writing_, queued_);
    boost::asio::async_write(
        socket_, boost::asio::buffer(writing_),
        [self = shared_from_this(), from = generation_](error_code failed, std::size_t) {
          if (from != self->generation_) return;
          self->writing_.clear();
          // The reader sees the end, behind what came before it.
          if (!failed && !self->closed_) self->write();
        });
  }

  void drop() {
    error_code ignored;
    socket_.close(ignored);
    tls_leg_.close();
    ++generation_;
    connected_ = open_ = talks_ = false;
    writing_.clear();
    queued_.clear();
    step_.cancel();
  }

  void try_later(std::string why) { follow(search_.try_later(std::move(why))); }

  // There is no hope here. `what` goes behind the endpoint.
  void give_up(const std::string& what, bool stranger = false) {
    follow(search_.give_up(what), stranger);
  }

  void follow(const ServerSearch::Next& next, bool stranger = false) {
    if (next.hopeless) return finish(RosterGaveUp{*next.hopeless, stranger});
    drop();
    tell_news(next.news);
    if (!closed_ && !end_in_time()) look_up_after(next.pause);
  }

  void tell_news(const std::optional<std::string>& news) {
    if (news) tell(RosterUnreachable{*news, nobody_listens_});
  }

  boost::asio::io_context& io_;
  const RosterClientOptions options_;
  OnEvent on_event_;
  ServerSearch search_;
  std::chrono::nanoseconds first_pause_;
  std::optional<LookUp> look_up_;
  Addresses addresses_;
  std::size_t next_ = 0;  // of addresses_
  Socket socket_;         // to the server; with TLS, to tls_leg_
  TlsLeg tls_leg_;
  boost::asio::steady_timer step_;
  boost::asio::steady_timer end_;
  boost::asio::steady_timer next_look_;  // at silence_
  std::optional<Silence> silence_;       // since it has said what is too long
  std::chrono::nanoseconds silence_limit_{};
  protocol::FrameParser parser_;
  std::optional<guard::ClientHandshake> handshake_;  // with a token
  std::array<char, 16 << 10> buffer_;
  std::string queued_;
  std::string writing_;
  int generation_ = 0;           // of socket_, for callbacks that come late
  bool nobody_listens_ = false;  // at the address tried last
  bool talks_ = false;           // what is said reaches the server
  bool connected_ = false;
  bool received_any_ = false;
  std::string local_address_;
  bool open_ = false;      // the server's opening is there
  bool answered_ = false;  // and so is its first message
  bool closed_ = false;
};

RosterClient::RosterClient(boost::asio::io_context& io, RosterClientOptions options,
                           OnEvent on_event)
    : io_(io), options_(std::move(options)), on_event_(std::move(on_event)) {}

RosterClient::~RosterClient() {
  close();
}

void RosterClient::connect(std::chrono::nanoseconds patience, std::chrono::nanoseconds pause,
                           std::optional<std::chrono::nanoseconds> of) {
  close();
  connection_ = std::make_shared<Connection>(io_, options_, on_event_, patience, pause,
                                             of.value_or(patience));
  connection_->start();
}

void RosterClient::send(const protocol::AgentMessage& message) {
  if (connection_) connection_->send(message);
}

bool RosterClient::flushed() const {
  return !connection_ || connection_->flushed();
}

void RosterClient::close() {
  if (connection_) connection_->close();
  connection_.reset();
}

}  // namespace ddprun::client
