// A client of the roster protocol that does only what a test says, and the messages it needs.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <string>
#include <variant>

#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/protocol/roster_frames.h"
#include "tests/unit/server/join_of.h"
#include "tests/unit/server/running_server.h"

namespace ddprun::server {

class RawAgent {
 public:
  // Connects and says the opening.
  explicit RawAgent(std::uint16_t port, std::uint32_t number = protocol::kRosterProtocol,
                    const std::string& source = "127.0.0.1") {
    client_.connect_from(source, port);
    std::string opening;
    protocol::encode_opening(opening, number);
    client_.send(opening);
  }

  void say(const protocol::AgentMessage& message) {
    std::string bytes;
    protocol::encode(bytes, message);
    client_.send(bytes);
  }
  void send(const std::string& bytes) { client_.send(bytes); }

  // The next message; none if the connection ends or nothing comes.
  std::optional<protocol::ServerMessage> next() {
    while (messages_.empty()) {
      received_ = client_.receive_some();
      if (received_.empty()) return {};
      parser_.feed(received_);
      while (const auto frame = parser_.next()) {
        auto message = protocol::decode_server_message(*frame);
        EXPECT_TRUE(message) << message.error().text;
        if (message) messages_.push_back(std::move(*message));
      }
      EXPECT_FALSE(parser_.failed()) << parser_.error();
    }
    protocol::ServerMessage message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }
  // The next message of this type; others before it are passed over.
  template <class Message>
  std::optional<Message> await() {
    while (const auto message = next())
      if (const auto* wanted = std::get_if<Message>(&*message)) return *wanted;
    return {};
  }
  // The server has nothing more to say and ends the connection.
  bool is_closed() {
    while (next()) {
    }
    return client_.is_closed();
  }
  void close() { client_.close(); }

 private:
  RawClient client_;
  std::string received_;
  protocol::FrameParser parser_;
  std::deque<protocol::ServerMessage> messages_;
};

}  // namespace ddprun::server
