#include "rendezvous/server/roster_session.h"

#include <utility>

#include "rendezvous/guard/tls.h"
#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/server/peer.h"

namespace ddprun::server {
namespace {

constexpr std::size_t kMostFromStrangers = 4096;  // bytes

}  // namespace

RosterSession::RosterSession(boost::asio::io_context& io, Visitor visitor, roster::MemberId id,
                             Owner& owner, std::string version,
                             std::shared_ptr<std::uint64_t> memory,
                             std::shared_ptr<const guard::Token> token, std::string refusal)
    : owner_(owner),
      channel_(std::make_shared<Channel>(io, std::move(visitor.socket),
                                         static_cast<Channel::Owner&>(*this))),
      peer_{.id = id,
            .address = to_text(visitor.peer),
            .trusted = token == nullptr && is_loopback(visitor.peer),
            .network = network_text(visitor.peer)},
      label_(peer_.address),
      first_(std::move(visitor.first)),
      version_(std::move(version)),
      memory_(std::move(memory)),
      place_(std::move(visitor.place)),
      refusal_(std::move(refusal)),
      handshake_(std::move(token), visitor.tls ? visitor.tls->binding : "") {}

RosterSession::~RosterSession() {
  close();
}

void RosterSession::start() {
  std::string opening;
  protocol::encode_opening(opening, protocol::kRosterProtocol);
  queue(counted_bytes(std::move(opening), memory_));
  flush();
  channel_->start();
  if (refusal_.empty()) return take(std::exchange(first_, {}));
  say(protocol::Refused{refusal_});
  finishing_ = true;
  owner_.on_stranger(*this, refusal_);
  channel_->finish();
}

void RosterSession::on_bytes(std::string_view bytes) {
  take(bytes);
}

void RosterSession::on_gone(const std::string& how) {
  owner_.on_gone(*this, how);
}

void RosterSession::take(std::string_view bytes) {
  parser_.feed(bytes);
  while (!closing() && read_message()) {
  }
  if (closing()) parser_ = {};  // whatever is left is not for us
  count_unfinished();
  if (!closing()) owner_.on_input(*this);
}

void RosterSession::count_unfinished() {
  *memory_ += parser_.pending_bytes() - counted_;
  counted_ = parser_.pending_bytes();
}

// Takes one message. Returns false when there is no whole one left.
bool RosterSession::read_message() {
  const auto frame = parser_.next();
  if (parser_.peer_number() && !std::exchange(number_checked_, true)) {
    const auto refused = protocol::refuse_number(*parser_.peer_number(), version_);
    if (refused) return refuse(refused->why), false;
  }
  if (parser_.failed()) return refuse(parser_.error()), false;
  if (!frame && !handshake_.done() && parser_.pending_bytes() > kMostFromStrangers)
    return refuse("its first message is too large for somebody who has not shown the token"), false;
  if (!frame) return false;
  const auto message = protocol::decode_agent_message(*frame);
  if (!message) return refuse(message.error().text), false;
  if (!is_for_owner(*message)) return true;
  has_spoken_ = true;
  name_after(*message);
  owner_.on_message(*this, *message);
  return true;
}

// The others belong to the handshake.
bool RosterSession::is_for_owner(const protocol::AgentMessage& message) {
  const auto step = handshake_.on_message(message);
  if (!step) return true;
  peer_.trusted = peer_.trusted || handshake_.has_shown_token();
  if (step->say) say(*step->say);
  if (step->refusal.empty()) return flush(), false;
  finishing_ = true;
  owner_.on_stranger(*this, step->refusal);  // before the other side knows
  channel_->finish();
  return false;
}

void RosterSession::say(const protocol::ServerMessage& message) {
  std::string bytes;
  protocol::encode(bytes, message);
  queue(counted_bytes(std::move(bytes), memory_));
}

void RosterSession::refuse(const std::string& why) {
  say(protocol::Refused{why});
  finishing_ = true;
  owner_.on_nonsense(*this, why);  // before the other side knows
  channel_->finish();
}

void RosterSession::name_after(const protocol::AgentMessage& message) {
  const auto* join = std::get_if<protocol::Join>(&message);
  if (join == nullptr) return;
  run_ = join->run;
  label_ = peer_.address + " (node " + join->node + " of run " + join->run + ")";
}

void RosterSession::queue(Bytes bytes) {
  channel_->queue(std::move(bytes));
}

void RosterSession::flush() {
  channel_->flush();
}

std::uint64_t RosterSession::unsent() const {
  return channel_->unsent();
}

void RosterSession::finish() {
  finishing_ = true;
  channel_->finish();
}

void RosterSession::close() {
  finishing_ = true;
  channel_->close();
  *memory_ -= std::exchange(counted_, 0);  // now, not when the last callback has let it go
}

}  // namespace ddprun::server
