#include "rendezvous/client/roster_client.h"

#include <algorithm>
#include <array>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "rendezvous/base/span_text.h"
#include "rendezvous/client/look_up.h"
#include "rendezvous/client/strangers.h"
#include "rendezvous/guard/handshake.h"
#include "rendezvous/guard/tls_pump.h"
#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/protocol/roster_frames.h"

namespace ddprun::client {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;
using std::chrono::milliseconds;
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
        patience_(patience),
        told_patience_(told_patience),
        begun_(Clock::now()),
        deadline_(begun_ + patience),
        first_pause_(first_pause),
        pause_(options.first_pause),
        socket_(io),
        step_(io),
        end_(io),
        silence_(io) {
    targets_.push_back({{options.host, options.port}});
    for (const Endpoint& other : options.others) targets_.push_back({other});
  }

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
    if (pump_) pump_->close();
    step_.cancel();
    end_.cancel();
    silence_.cancel();
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
    end_.expires_at(deadline_);
    end_.async_wait([self = shared_from_this()](error_code canceled) {
      if (!canceled && !self->closed_ && !self->answered_) self->give_up_in_time();
    });
  }

  // Where it is tried now.
  const Endpoint& here() const { return redirect_ ? *redirect_ : targets_[at_].endpoint; }
  bool by_turns() const { return targets_.size() > 1; }

  void look_up_after(std::chrono::nanoseconds pause) {
    step_.expires_after(pause);
    step_.async_wait([self = shared_from_this()](error_code canceled) {
      if (!canceled && !self->closed_) self->look_up();
    });
  }

  void look_up() {
    problem_ = "looking up '" + here().host + "' has no answer yet";
    step_.expires_after(options_.slow_look_up);
    step_.async_wait([self = shared_from_this()](error_code canceled) {
      if (!canceled && !self->closed_) self->tell_problem();
    });
    look_up_.emplace(io_, here().host, [self = weak_from_this()](Result<Addresses> found) {
      if (const auto alive = self.lock()) alive->on_looked_up(std::move(found));
    });
  }

  void on_looked_up(Result<Addresses> found) {
    if (closed_) return;
    step_.cancel();
    if (!found)
      return try_later("'" + here().host +
                       "' cannot be looked up: " + lower_first(found.error().text));
    addresses_ = std::move(*found);
    next_ = 0;
    problem_ = kNoAnswer;
    connect_next();
  }

  void connect_next() {
    if (next_ >= addresses_.size()) return try_later(problem_);
    error_code ignored;
    socket_.close(ignored);
    connected_ = false;
    const tcp::endpoint to(addresses_[next_++], here().port);
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
      first_silent_closing_.reset();
      nobody_listens_ = failed == boost::asio::error::connection_refused;
      problem_ = failed == boost::asio::error::operation_aborted ? kNoAnswer
                                                                 : lower_first(failed.message());
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
      problem_ = "connection refused";
      return connect_next();
    }
    parser_ = {};
    received_any_ = false;
    queued_.clear();
    problem_ = kSilent;
    local_address_ = here.address().to_string();
    wait_for_opening();
    if (options_.tls) return open_tls();
    begin_talk("");
  }

  // Whoever is named as the head has to be that host.
  std::shared_ptr<const guard::Tls> tls() const {
    return here().host == options_.host ? options_.tls : options_.tls->for_peer(here().host);
  }

  // What is said goes through a socket of our own, behind which TLS begins.
  void open_tls() {
    error_code ignored;
    UniqueFd secure(socket_.release(ignored));
    const auto alive = [self = weak_from_this(), from = generation_] {
      auto connection = self.lock();
      const bool is_current = connection && !connection->closed_ && from == connection->generation_;
      return is_current ? connection : nullptr;
    };
    tls_end_ = {};
    auto pumped = guard::pump_over(io_, std::move(secure), guard::TlsStream(tls()),
                                   {.on_open =
                                        [alive](const guard::TlsFacts& facts) {
                                          if (const auto self = alive())
                                            self->begin_talk(facts.binding);
                                        },
                                    .on_end =
                                        [alive](const guard::TlsEnd& end) {
                                          if (const auto self = alive()) self->on_tls_end(end);
                                        }});
    if (!pumped) return try_later(pumped.error().text);
    socket_.assign({AF_UNIX, 0}, pumped->plain.release(), ignored);
    pump_ = pumped->pump;
    pump_->start();
  }

  // Once there was something to read, its end tells; this says how it came.
  void on_tls_end(const guard::TlsEnd& end) {
    tls_end_ = end;
    if (talks_) return;
    if (end.refused) return give_up_on_tls();
    if (closes_without_a_word())
      return give_up(
          ": " + end.why +
          "; if the server is to speak TLS start it with --tls-cert and --tls-key, else leave "
          "--tls-ca out here");
    try_later(end.why);
  }

  void give_up_on_tls() { give_up(": TLS: " + tls_end_.why); }

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
    if (open_) return fail(tls_end_.why.empty() ? ending_text(error) : tls_end_.why);
    // In TLS 1.3 a client talks before the server has looked at its certificate.
    if (tls_end_.refused) return give_up_on_tls();
    if (!received_any_ && closes_without_a_word())
      return give_up(" is neither ddprun nor rdzvd: for " + span_text(options_.stranger_after) +
                         " it has closed each connection without a word",
                     true);
    try_later("it closed the connection without a word");
  }

  bool closes_without_a_word() {
    const Clock::time_point now = Clock::now();
    if (!first_silent_closing_) first_silent_closing_ = now;
    return now >= *first_silent_closing_ + options_.stranger_after;
  }

  // The server is one, but the connection is of no use any more.
  void fail(std::string why) {
    if (answered_) return finish(RosterLost{std::move(why)});
    try_later(std::move(why) + " before it had answered");
  }

  void on_bytes(std::string_view bytes) {
    parser_.feed(bytes);
    heard_ = Clock::now();
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
    targets_[at_].hopeless = false;
    first_silent_closing_.reset();
    problem_ = "it takes connections and does not answer";
    step_.expires_after(options_.answer_timeout);
    step_.async_wait([self = shared_from_this()](error_code canceled) {
      if (canceled || self->closed_ || self->answered_) return;
      self->try_later("it takes connections and has not answered for " +
                      span_text(self->options_.answer_timeout) + " (read_timeout)");
    });
    if (options_.connected_when_answered && !handshake_) tell_connected();
  }

  void tell_connected() {
    tell(RosterConnected{local_address_, here().host == options_.host ? "" : here().host});
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

  // One word leads to the head; whoever is sent on from there finds it another time.
  void go_elsewhere(const protocol::Elsewhere& elsewhere) {
    bear_with_it();
    told_.clear();  // the owner has heard of a connection since
    const auto head = elsewhere.endpoint ? parse_endpoint(*elsewhere.endpoint) : Error{""};
    if (!head || head->host.empty() || redirect_) return try_later("no head now: " + elsewhere.why);
    drop();
    redirect_ = *head;
    look_up_after({});
  }

  // Somebody is there, and a head will be.
  void bear_with_it() {
    if (options_.headless_patience <= options_.headless_patience.zero()) return;
    const Clock::time_point until =
        std::min(Clock::now() + patience_, begun_ + options_.headless_patience);
    if (until <= deadline_) return;
    told_patience_ += until - deadline_;
    deadline_ = until;
    wait_for_end();
  }

  void watch_silence() {
    silence_.expires_at(heard_ + silence_limit_);
    silence_.async_wait([self = shared_from_this()](error_code canceled) {
      if (canceled || self->closed_) return;
      // This process may have been stopped, with a ping in the socket.
      error_code failed;
      const bool more = self->socket_.available(failed) > 0 && !failed;
      if (more) self->heard_ = Clock::now();
      if (Clock::now() < self->heard_ + self->silence_limit_) return self->watch_silence();
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
    if (pump_) pump_->close();
    ++generation_;
    connected_ = open_ = talks_ = false;
    writing_.clear();
    queued_.clear();
    step_.cancel();
  }

  void try_later(std::string why) {
    drop();
    if (redirect_) why = "the head is to be at " + to_text(*redirect_) + ": " + why;
    redirect_.reset();
    targets_[at_].problem = std::move(why);
    at_ = (at_ + 1) % targets_.size();
    if (at_ != 0) return look_up_after({});
    problem_ = problems();
    tell_problem();
    if (closed_) return;
    const milliseconds pause = pause_;
    pause_ = std::min(2 * pause_, options_.longest_pause);
    look_up_after(pause);
  }

  // What was found at each of them.
  std::string problems() const {
    if (!by_turns()) return targets_.front().problem;
    std::string all;
    for (const Target& each : targets_) {
      if (each.problem.empty()) continue;
      all += (all.empty() ? "" : "; ") + to_text(each.endpoint);
      all += (each.problem.starts_with(' ') || each.problem.starts_with(':') ? "" : ": ") +
             each.problem;
    }
    return all;
  }

  // There is no hope here. `what` goes behind the endpoint.
  void give_up(const std::string& what, bool stranger = false) {
    if (!by_turns() && !redirect_) return finish(RosterGaveUp{to_text(here()) + what, stranger});
    if (!redirect_) targets_[at_].hopeless = true;
    if (!std::ranges::all_of(targets_, &Target::hopeless)) return try_later(what);
    targets_[at_].problem = what;
    finish(RosterGaveUp{problems(), stranger});
  }

  void tell_problem() {
    if (problem_ == told_) return;
    told_ = problem_;
    tell(RosterUnreachable{told_, nobody_listens_});
  }

  // A try that has only begun has nothing to say yet; what the one before it has found does.
  void give_up_in_time() {
    if ((!connected_ || by_turns()) && !told_.empty()) problem_ = told_;
    std::string where;
    for (const Target& each : targets_)
      where += (where.empty() ? "" : ",") + to_text(each.endpoint);
    finish(RosterGaveUp{where + " could not be reached within " + span_text(told_patience_) + ": " +
                        problem_});
  }

  boost::asio::io_context& io_;
  const RosterClientOptions options_;
  OnEvent on_event_;
  struct Target {
    Endpoint endpoint;
    std::string problem = {};  // what was found there last
    bool hopeless = false;
  };
  std::vector<Target> targets_;
  std::size_t at_ = 0;                // of targets_
  std::optional<Endpoint> redirect_;  // where that one says that the head is
  std::chrono::nanoseconds patience_;
  std::chrono::nanoseconds told_patience_;
  Clock::time_point begun_;
  Clock::time_point deadline_;
  std::chrono::nanoseconds first_pause_;
  milliseconds pause_;
  std::optional<LookUp> look_up_;
  Addresses addresses_;
  std::size_t next_ = 0;                  // of addresses_
  Socket socket_;                         // to the server; with TLS, to pump_
  std::shared_ptr<guard::TlsPump> pump_;  // with TLS
  boost::asio::steady_timer step_;
  boost::asio::steady_timer end_;
  boost::asio::steady_timer silence_;
  Clock::time_point heard_{};
  std::chrono::nanoseconds silence_limit_{};
  protocol::FrameParser parser_;
  std::optional<guard::ClientHandshake> handshake_;  // with a token
  std::array<char, 16 << 10> buffer_;
  std::string queued_;
  std::string writing_;
  std::string problem_;  // why there is no connection
  std::string told_;     // the last problem that the owner was told
  int generation_ = 0;   // of socket_, for callbacks that come late
  std::optional<Clock::time_point> first_silent_closing_;  // since somebody said a word
  bool nobody_listens_ = false;                            // at the address tried last
  guard::TlsEnd tls_end_;                                  // how TLS ended
  bool talks_ = false;                                     // what is said reaches the server
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
