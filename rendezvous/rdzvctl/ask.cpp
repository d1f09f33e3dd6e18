#include "rendezvous/rdzvctl/ask.h"

#include <string>
#include <thread>
#include <utility>

#include "rendezvous/client/connection.h"
#include "rendezvous/guard/handshake.h"
#include "rendezvous/guard/tls.h"
#include "rendezvous/guard/token.h"
#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/protocol/roster_frames.h"

namespace ddprun::rdzvctl {
namespace {

using protocol::ServerMessage;

// A connection and what has arrived on it.
class Talk {
 public:
  Talk(client::Connection connection, client::Clock::time_point until)
      : connection_(std::move(connection)), until_(until) {
    protocol::encode_opening(unsent_, protocol::kRosterProtocol);
  }

  Result<ServerMessage> ask(const protocol::AgentMessage& message) {
    protocol::encode(unsent_, message);
    if (const auto sent = connection_.send(std::exchange(unsent_, {}), until_); !sent)
      return sent.error();
    return read();
  }

 private:
  Result<ServerMessage> read() {
    while (true) {
      const auto frame = parser_.next();
      if (parser_.failed()) return Error{"that is no rendezvous server: " + parser_.error()};
      if (frame) return decode(*frame);
      const auto bytes = connection_.receive(until_);
      if (!bytes) return Error{"no answer came: " + bytes.error().text};
      parser_.feed(*bytes);
    }
  }
  static Result<ServerMessage> decode(std::string_view frame) {
    auto message = protocol::decode_server_message(frame);
    if (!message) return Error{"the answer cannot be read: " + message.error().text};
    return message;
  }

  client::Connection connection_;
  client::Clock::time_point until_;
  protocol::FrameParser parser_;
  std::string unsent_;
};

Result<void> show_token(Talk& talk, std::shared_ptr<const guard::Token> token,
                        const std::string& binding) {
  guard::ClientHandshake handshake(std::move(token), binding);
  protocol::AgentMessage next = handshake.challenge();
  while (!handshake.done()) {
    const auto answer = talk.ask(next);
    if (!answer) return answer.error();
    if (const auto* refused = std::get_if<protocol::Refused>(&*answer)) return Error{refused->why};
    const auto step = handshake.on_message(*answer);
    if (!step.stranger.empty()) return Error{step.stranger};
    if (step.say) next = *step.say;
  }
  return {};
}

// Without an endpoint a daemon is asked; not all jobs have one.
std::string where_else(const Endpoint& server) {
  if (server.port != kDefaultRdzvPort) return "";
  return "; is an rdzvd there? A job with --rdzv-backend static is at --endpoint HOST:29500, the "
         "--master-addr and --master-port of its ddprun";
}

Result<ServerMessage> ask_one(const Endpoint& server, const Keys& keys,
                              const protocol::AgentMessage& question,
                              client::Clock::time_point until) {
  auto connection = client::Connection::open(server.host, server.port, until);
  if (!connection) return Error{connection.error().text + where_else(server)};
  if (keys.tls)
    if (const auto secured = connection->secure(keys.tls->for_peer(server.host), until); !secured)
      return secured.error();
  const std::string binding = connection->binding();
  Talk talk(std::move(*connection), until);
  if (keys.token)
    if (const auto shown = show_token(talk, keys.token, binding); !shown) return shown.error();
  return talk.ask(question);
}

// One that stands by says where the head is.
Result<ServerMessage> ask_head(const Endpoint& server, const Keys& keys,
                               const protocol::AgentMessage& question,
                               client::Clock::time_point until) {
  auto answer = ask_one(server, keys, question, until);
  const auto* elsewhere = answer ? std::get_if<protocol::Elsewhere>(&*answer) : nullptr;
  if (elsewhere == nullptr || !elsewhere->endpoint) return answer;
  const auto head = parse_endpoint(*elsewhere->endpoint);
  if (!head) return answer;
  auto from_head = ask_one(*head, keys, question, until);
  // It may have been lost a moment ago.
  return from_head ? std::move(from_head) : std::move(answer);
}

constexpr std::chrono::milliseconds kPause{200};  // while there is no head

}  // namespace

Result<ServerMessage> ask(std::span<const Endpoint> servers, const Keys& keys,
                          const protocol::AgentMessage& question, std::chrono::milliseconds limit) {
  const auto until = client::Clock::now() + limit;
  while (true) {
    std::string problems;
    bool headless = false;
    for (const Endpoint& server : servers) {
      // One that is silent must leave time for the others.
      const auto now = client::Clock::now();
      const auto share = (until - now) / (&servers.back() - &server + 1);
      auto answer = ask_head(server, keys, question, now + share);
      const auto* elsewhere = answer ? std::get_if<protocol::Elsewhere>(&*answer) : nullptr;
      const auto* refused = answer ? std::get_if<protocol::Refused>(&*answer) : nullptr;
      if (refused != nullptr) return Error{to_text(server) + ": " + refused->why};
      if (answer && elsewhere == nullptr) return answer;
      headless = headless || elsewhere != nullptr;
      problems += (problems.empty() ? "" : "; ") + to_text(server) + ": " +
                  (elsewhere != nullptr ? "no head now: " + elsewhere->why : answer.error().text);
    }
    if (!headless || client::Clock::now() + kPause >= until) return Error{problems};
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace ddprun::rdzvctl
