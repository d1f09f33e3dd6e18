// A client of the roster protocol that does only what a test says, and the messages it needs.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <string>
#include <variant>

#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/protocol/roster_frames.h"
#include "tests/unit/server/running_server.h"

namespace ddprun::server {

// What node `node` of a run of `nodes` nodes says first.
inline protocol::Join join_of(const std::string& run, const std::string& node, int nodes) {
  return {.run = run,
          .node = node,
          .pid = 4242,
          .version = "0.1.0",
          .program = "crc32:1234",
          .addresses = {"127.0.0.1"},
          .store_port = 29'501,
          .nproc = 2,
          .min_nodes = nodes,
          .max_nodes = nodes,
          .join_timeout = std::chrono::seconds(60),
          .last_call_timeout = std::chrono::seconds(1),
          .reconnect_timeout = std::chrono::seconds(5)};
}

class RawAgent {
 public:
  // Connects and says the opening.
  explicit RawAgent(std::uint16_t port, std::uint32_t number = protocol::kRosterProtocol)
      : client_(port, false) {
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
