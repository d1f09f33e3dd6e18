// Somebody who has taken a server's port, and says what a test wants.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "rendezvous/base/unique_fd.h"
#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/protocol/roster_frames.h"
#include "tests/integration/support/loopback_port.h"

namespace ddprun::test {

class Impostor {
 public:
  using Answers = std::function<protocol::ServerMessage(const protocol::AgentMessage&)>;
  // What it was told on its first connection.
  struct Told {
    std::string bytes;
    std::vector<std::string> messages;  // their types
  };

  Impostor() { port_.listen(); }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_.number()); }

  // Takes a connection and answers each message, until the other side ends it.
  Told serve(const Answers& answers) const {
    Told told;
    EXPECT_TRUE(readable(port_.descriptor())) << "nobody comes";
    const UniqueFd client(::accept4(port_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
    std::string opening;
    protocol::encode_opening(opening, protocol::kRosterProtocol);
    say(client, opening);
    protocol::FrameParser parser;
    std::array<char, 4096> buffer;
    while (readable(client.get())) {
      const ssize_t size = ::recv(client.get(), buffer.data(), buffer.size(), 0);
      if (size <= 0) break;
      const std::string_view bytes(buffer.data(), static_cast<std::size_t>(size));
      told.bytes += bytes;
      parser.feed(bytes);
      while (const auto frame = parser.next()) {
        const auto message = protocol::decode_agent_message(*frame);
        EXPECT_TRUE(message) << message.error().text;
        if (!message) return told;
        told.messages.emplace_back(type_name(*message));
        std::string answer;
        protocol::encode(answer, answers(*message));
        say(client, answer);
      }
    }
    return told;
  }

 private:
  static bool readable(int descriptor) {
    pollfd entry{descriptor, POLLIN, 0};
    return ::poll(&entry, 1, 10'000) > 0;
  }
  static void say(const UniqueFd& to, const std::string& bytes) {
    ::send(to.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

  LoopbackPort port_;
};

}  // namespace ddprun::test
