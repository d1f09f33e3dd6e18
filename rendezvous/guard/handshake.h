// How two sides of a roster connection show each other that they know the token, without telling
// it.
//
//   client -> challenge  a number of the client's
//   client <- challenge  a number of the server's
//   client -> answer     HMAC of "client", both numbers and the binding
//   client <- answer     HMAC of "server", both numbers and the binding
//
// The client says nothing of its run before it has the server's answer; whoever has no answer to
// give gets nothing that depends on the token. The binding names the TLS session, if there is one,
// so that nobody can sit in the middle of it.
//
// Pure but for Token: messages in, messages out. A side without a token lets everybody in who has
// none, and refuses the others.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "rendezvous/guard/token.h"
#include "rendezvous/protocol/roster_messages.h"

namespace ddprun::guard {

// So many random hexadecimal digits that nobody has the same.
std::string random_number();

// The server's side of one connection.
class ServerHandshake {
 public:
  explicit ServerHandshake(std::shared_ptr<const Token> token, std::string binding = {})
      : token_(std::move(token)), binding_(std::move(binding)), done_(token_ == nullptr) {}

  struct Step {
    // Goes to the other side.
    std::optional<protocol::ServerMessage> say = {};
    // Why the connection must be closed when that was said, for the log: goes behind the peer's
    // name, "refused 10.0.0.2:4711: ".
    std::string refusal = {};
  };
  // For each message until done(), and for each Challenge or Answer. Empty: the message is for the
  // owner.
  std::optional<Step> on_message(const protocol::AgentMessage& message);

  // The other side may be served.
  bool done() const { return done_; }
  // It has shown the token.
  bool has_shown_token() const { return done_ && token_ != nullptr; }

 private:
  Step challenge(const protocol::Challenge& message);
  Step check(const protocol::Answer& message);

  std::shared_ptr<const Token> token_;
  std::string binding_;
  std::string numbers_;  // both, when the challenge has come
  bool done_;
};

// The side of an agent or rdzvctl that has a token. Without one there is nothing to do.
class ClientHandshake {
 public:
  explicit ClientHandshake(std::shared_ptr<const Token> token, std::string binding = {})
      : token_(std::move(token)), binding_(std::move(binding)), number_(random_number()) {}

  // Said first.
  protocol::Challenge challenge() const { return {number_}; }

  struct Step {
    std::optional<protocol::AgentMessage> say = {};
    // What is wrong with the server; nothing may be told to it.
    std::string stranger = {};
  };
  // For each message until done(), but for Refused.
  Step on_message(const protocol::ServerMessage& message);

  // The server has shown that it knows the token.
  bool done() const { return done_; }

 private:
  std::shared_ptr<const Token> token_;
  std::string binding_;
  std::string number_;
  std::string numbers_;
  bool done_ = false;
};

}  // namespace ddprun::guard
