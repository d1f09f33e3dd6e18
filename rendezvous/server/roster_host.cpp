#include "rendezvous/server/roster_host.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/server/holders.h"

namespace ddprun::server {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

// What comes every few seconds is of interest to nobody but a developer.
bool is_routine(const protocol::ServerMessage& message) {
  return std::holds_alternative<protocol::Ping>(message) ||
         std::holds_alternative<protocol::Waiting>(message) ||
         std::holds_alternative<protocol::StatusAnswer>(message);
}

}  // namespace

RosterHost::RosterHost(asio::io_context& io, RosterHostOptions options, LimitedLog& log)
    : io_(io),
      options_(std::move(options)),
      log_(log),
      runs_(std::make_unique<roster::Runs>(options_.identity, options_.runs)),
      timer_(io),
      handshakes_(io, options_.handshake_timeout, [this](Id id) { on_handshake_timeout(id); }),
      lingering_(io, options_.linger, [this](Id id) { on_linger_timeout(id); }) {
  if (options_.keeper != nullptr)
    elsewhere_ = {.endpoint = {}, .why = "it is not known yet which rdzvd is the head"};
}

void RosterHost::take(Visitor visitor) {
  const Id id = ++last_id_;
  std::string refusal = refuse_way(options_.way_in, visitor.tls.get());
  RosterSession& session =
      *sessions_
           .emplace(id, std::make_unique<RosterSession>(
                            io_, std::move(visitor), id, static_cast<RosterSession::Owner&>(*this),
                            options_.identity.version, memory_, options_.token, std::move(refusal)))
           .first->second;
  handshakes_.add(id);
  session.start();
}

// Members of another server of this process must not be taken for this one's.
void RosterHost::take_office(const std::string& id, const std::vector<protocol::Record>& records) {
  elsewhere_.reset();
  ++office_;
  options_.identity.id = id;
  runs_ = std::make_unique<roster::Runs>(options_.identity, options_.runs);
  perform(runs_->restore(Clock::now(), records));
}

void RosterHost::stand_by(protocol::Elsewhere where) {
  if (std::exchange(elsewhere_, std::move(where))) return;
  ++office_;
  waiting_.clear();
  written_ = writes_;
  runs_ = std::make_unique<roster::Runs>(options_.identity, options_.runs);
  wake_at({});
  while (!sessions_.empty()) forget(sessions_.begin()->first);
}

void RosterHost::shut_down(const std::string& why) {
  waiting_.clear();
  written_ = writes_;
  carry_out(runs_->shut_down(why).effects);
  wake_at({});
  std::vector<Id> others;
  for (const auto& [id, session] : sessions_)
    if (!session->finishing()) others.push_back(id);
  for (const Id id : others) forget(id);
}

void RosterHost::close() {
  alive_.reset();
  timer_.cancel();
  handshakes_.close();
  lingering_.close();
  while (!sessions_.empty()) forget(sessions_.begin()->first);
}

void RosterHost::on_message(RosterSession& session, const protocol::AgentMessage& message) {
  ++messages_;
  if (log_.wants(Severity::debug))
    log_.write(Severity::debug, "says",
               session.label() + " says " + std::string(type_name(message)));
  if (elsewhere_) return send_elsewhere(session);
  if (may_speak()) perform(runs_->on_message(Clock::now(), session.peer(), message));
}

void RosterHost::send_elsewhere(RosterSession& session) {
  std::string text;
  protocol::encode(text, protocol::ServerMessage(*elsewhere_));
  session.queue(counted_bytes(std::move(text), memory_));
  session.flush();
  session.finish();
  lingering_.add(session.peer().id);
}

void RosterHost::on_stranger(RosterSession& session, const std::string& why) {
  ++strangers_;
  log_.write(Severity::warning, "token", "refused " + session.label() + ": " + why);
  lingering_.add(session.peer().id);
}

void RosterHost::on_nonsense(RosterSession& session, const std::string& why) {
  ++dropped_;
  log_.write(Severity::warning, "nonsense",
             "closed the connection of " + session.label() + ": " + why);
  lingering_.add(session.peer().id);
  ended(session.peer().id, "its agent broke the roster protocol: " + why);
}

void RosterHost::on_input(RosterSession&) {
  drop_largest();
}

void RosterHost::on_gone(RosterSession& session, const std::string& how) {
  const Id id = session.peer().id;
  const bool told = session.closing();
  if (!told) log_.write(Severity::info, "lost", "lost " + session.label() + ": " + how);
  forget(id);
  if (!told) ended(id, how);
}

void RosterHost::on_handshake_timeout(Id id) {
  RosterSession* session = find(id);
  if (session == nullptr || session->has_spoken() || session->closing()) return;
  drop(*session, "it sent no whole message within " +
                     std::to_string(options_.handshake_timeout.count()) + " ms");
}

void RosterHost::on_linger_timeout(Id id) {
  if (find(id) != nullptr) forget(id);
}

void RosterHost::drop(RosterSession& session, const std::string& why) {
  const Id id = session.peer().id;
  const bool told = session.closing();
  ++dropped_;
  log_.write(Severity::warning, "dropped",
             "closed the connection of " + session.label() + ": " + why);
  forget(id);
  if (!told) ended(id, "its connection was closed: " + why);
}

void RosterHost::ended(Id id, const std::string& how) {
  if (may_speak()) perform(runs_->on_closed(Clock::now(), id, how));
}

// The session may be the one that is calling us: it goes when it has returned.
void RosterHost::forget(Id id) {
  auto entry = sessions_.extract(id);
  entry.mapped()->close();
  asio::post(io_, [gone = std::move(entry.mapped())] {});
  if (sessions_.empty()) say_idle();
}

void RosterHost::say_idle() {
  if (!options_.on_idle || !alive_) return;
  asio::post(io_, [this, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired() && sessions_.empty()) options_.on_idle();
  });
}

void RosterHost::perform(roster::Decision decision) {
  wake_at(decision.wake_at);
  if (options_.keeper == nullptr) return carry_out(decision.effects);
  if (!decision.changes.empty()) write(decision);
  // Of whoever gets its last word nothing is heard any more, though the word may have to wait.
  for (const roster::Effect& effect : decision.effects)
    if (const auto* close = std::get_if<roster::Close>(&effect))
      for (const Id id : close->members)
        if (RosterSession* session = find(id)) session->hear_no_more();
  waiting_.push_back({writes_, std::move(decision.effects)});
  release();
}

void RosterHost::write(roster::Decision& decision) {
  ++writes_;
  options_.keeper->write(std::move(decision.changes),
                         [this, office = office_, alive = std::weak_ptr<bool>(alive_)] {
                           if (!alive.expired() && office == office_) on_written();
                         });
}

void RosterHost::on_written() {
  ++written_;
  release();
}

void RosterHost::release() {
  while (!waiting_.empty() && waiting_.front().writes <= written_ && may_speak()) {
    const std::vector<roster::Effect> effects = std::move(waiting_.front().effects);
    waiting_.pop_front();
    carry_out(effects);
  }
}

void RosterHost::carry_out(const std::vector<roster::Effect>& effects) {
  std::vector<Id> touched;
  for (const roster::Effect& effect : effects) {
    if (const auto* send = std::get_if<roster::Send>(&effect))
      carry_out(*send, touched);
    else
      carry_out(std::get<roster::Close>(effect));
  }
  for (const Id id : touched)
    if (RosterSession* session = find(id)) session->flush();
  drop_slow(touched);
  drop_largest();
}

// Whoever asks for more than fits into a message must not end the server by that.
std::string RosterHost::encoded(const protocol::ServerMessage& message) const {
  std::string text;
  if (const auto written = protocol::encode(text, message); !written) {
    const std::string why = written.error().text + "; ask for one run, or read /api/v1/runs";
    log_.write(Severity::warning, "too large", why);
    protocol::encode(text, protocol::ServerMessage(protocol::Refused{why}));
  }
  return text;
}

void RosterHost::carry_out(const roster::Send& send, std::vector<Id>& touched) {
  note(send);
  std::string text = encoded(send.message);
  const Bytes bytes = counted_bytes(std::move(text), memory_);
  for (const Id id : send.to) {
    RosterSession* session = find(id);
    if (session == nullptr) continue;
    session->queue(bytes);
    touched.push_back(id);
  }
}

void RosterHost::carry_out(const roster::Close& close) {
  for (const Id id : close.members) {
    RosterSession* session = find(id);
    if (session == nullptr || session->finishing()) continue;
    if (log_.wants(Severity::debug))
      log_.write(Severity::debug, "closing", "closing " + session->label() + ": " + close.reason);
    session->finish();
    lingering_.add(id);
  }
}

void RosterHost::drop_slow(const std::vector<Id>& touched) {
  for (const Id id : touched) {
    RosterSession* session = find(id);
    if (session == nullptr || session->unsent() <= options_.max_unsent_bytes) continue;
    drop(*session, "it does not read: " + std::to_string(session->unsent()) +
                       " bytes wait for it, over the limit of " +
                       std::to_string(options_.max_unsent_bytes));
  }
}

// Not whoever happens to speak when the limit is passed: that is mostly somebody else.
void RosterHost::drop_largest() {
  while (*memory_ > options_.max_memory_bytes) {
    Holders holders;
    for (const auto& [id, session] : sessions_)
      holders.add(id, session->peer().network, session->held());
    const auto largest = holders.largest();
    if (!largest) return;
    drop(*find(largest->id),
         "its unfinished message and unread answers of " + std::to_string(largest->held) +
             " bytes are the largest of its address, which has most of the " +
             std::to_string(*memory_) + " that all hold together, over the limit of " +
             std::to_string(options_.max_memory_bytes));
  }
}

void RosterHost::note(const roster::Send& send) {
  const RosterSession* first = send.to.empty() ? nullptr : find(send.to.front());
  if (first == nullptr) return;
  if (const auto* refused = std::get_if<protocol::Refused>(&send.message)) {
    refused_ += send.to.size();
    return log_.write(Severity::warning, "refused",
                      "refused " + first->label() + ": " + refused->why);
  }
  const Severity severity = is_routine(send.message) ? Severity::debug : Severity::info;
  if (!log_.wants(severity)) return;
  const std::string whom = send.to.size() == 1 ? first->label()
                                               : "run " + first->run() + ", " +
                                                     std::to_string(send.to.size()) + " agents";
  log_.write(severity, type_name(send.message),
             std::string(type_name(send.message)) + " to " + whom + ": " + send.reason);
}

void RosterHost::wake_at(std::optional<roster::Time> at) {
  if (at == armed_ || !alive_) return;
  armed_ = at;
  if (!at) return void(timer_.cancel());
  timer_.expires_at(*at);
  timer_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    if (error || alive.expired()) return;
    armed_.reset();
    if (may_speak()) perform(runs_->on_time(Clock::now()));
  });
}

RosterSession* RosterHost::find(Id id) {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second.get();
}

}  // namespace ddprun::server
