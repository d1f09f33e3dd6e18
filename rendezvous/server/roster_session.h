// One connection of an agent or of rdzvctl: its bytes as messages. One thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rendezvous/guard/handshake.h"
#include "rendezvous/protocol/roster_frames.h"
#include "rendezvous/protocol/roster_messages.h"
#include "rendezvous/roster/types.h"
#include "rendezvous/server/channel.h"
#include "rendezvous/server/other_protocols.h"

namespace ddprun::server {

class RosterSession final : private Channel::Owner {
 public:
  class Owner {
   public:
    virtual void on_message(RosterSession& session, const protocol::AgentMessage& message) = 0;
    // It has not shown the token, or has one and the server has none; `why` goes behind its name in
    // the log. It is told, and finishes.
    virtual void on_stranger(RosterSession& session, const std::string& why) = 0;
    // What it sent is no roster message; `why` says what is wrong. It is told, and finishes.
    virtual void on_nonsense(RosterSession& session, const std::string& why) = 0;
    // More has arrived, and memory_bytes() may have changed.
    virtual void on_input(RosterSession& session) = 0;
    // The connection has ended, after finish() or by itself. The session may be destroyed in it.
    virtual void on_gone(RosterSession& session, const std::string& how) = 0;

   protected:
    ~Owner() = default;
  };

  // `owner` must outlive the session. `memory` counts what the session keeps unread. With a `token`
  // the owner hears of messages only when the other side has shown that it knows it. With a
  // `refusal` the other side is told that, and no more.
  RosterSession(boost::asio::io_context& io, Visitor visitor, roster::MemberId id, Owner& owner,
                std::string version, std::shared_ptr<std::uint64_t> memory,
                std::shared_ptr<const guard::Token> token, std::string refusal = {});
  ~RosterSession();
  RosterSession(const RosterSession&) = delete;
  RosterSession& operator=(const RosterSession&) = delete;

  // Says the opening, takes what has arrived already, and reads from now on.
  void start();

  const roster::Peer& peer() const { return peer_; }
  // "10.0.0.2:4711", and who it is as soon as it has said so: "10.0.0.2:4711 (node a of run r)".
  const std::string& label() const { return label_; }
  // The run that it wants to be a member of; empty until it has said so, and for rdzvctl.
  const std::string& run() const { return run_; }
  // Whether its first message for the owner has come.
  bool has_spoken() const { return has_spoken_; }
  // Whether it was told its last word.
  bool finishing() const { return finishing_; }
  // Whether it was, or will be.
  bool closing() const { return finishing_ || deaf_; }

  // What it keeps: an unfinished message and unread answers, shared ones as its own.
  std::uint64_t held() const { return counted_ + unsent(); }

  // What it says from now on is not heard any more; its last word is on its way.
  void hear_no_more() { deaf_ = true; }
  // As Channel's.
  void queue(Bytes bytes);
  void flush();
  std::uint64_t unsent() const;
  void finish();
  void close();

 private:
  void on_bytes(std::string_view bytes) override;
  void on_gone(const std::string& how) override;
  void take(std::string_view bytes);
  void count_unfinished();
  bool read_message();
  bool is_for_owner(const protocol::AgentMessage& message);
  void say(const protocol::ServerMessage& message);
  void refuse(const std::string& why);
  void name_after(const protocol::AgentMessage& message);

  Owner& owner_;
  std::shared_ptr<Channel> channel_;
  roster::Peer peer_;
  std::string label_;
  std::string run_;
  std::string first_;
  std::string version_;
  std::shared_ptr<std::uint64_t> memory_;
  protocol::FrameParser parser_;
  std::uint64_t counted_ = 0;    // of parser_, in memory_
  std::shared_ptr<void> place_;  // Visitor::place
  std::string refusal_;
  guard::ServerHandshake handshake_;
  bool number_checked_ = false;
  bool has_spoken_ = false;
  bool finishing_ = false;
  bool deaf_ = false;
};

}  // namespace ddprun::server
