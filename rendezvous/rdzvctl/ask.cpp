#include "rendezvous/rdzvctl/ask.h"

#include <string>
#include <utility>

#include "rendezvous/client/connection.h"
#include "rendezvous/guard/handshake.h"
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
    if (const auto* refused = std::get_if<protocol::Refused>(&*message)) return Error{refused->why};
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

}  // namespace

Result<ServerMessage> ask(const Endpoint& server, const Keys& keys,
                          const protocol::AgentMessage& question, std::chrono::milliseconds limit) {
  const auto until = client::Clock::now() + limit;
  const auto failed = [&](const std::string& why) { return Error{to_text(server) + ": " + why}; };
  auto connection = client::Connection::open(server.host, server.port, until);
  if (!connection) return failed(connection.error().text + where_else(server));
  if (keys.tls)
    if (const auto secured = connection->secure(keys.tls, until); !secured)
      return failed(secured.error().text);
  const std::string binding = connection->binding();
  Talk talk(std::move(*connection), until);
  if (keys.token)
    if (const auto shown = show_token(talk, keys.token, binding); !shown)
      return failed(shown.error().text);
  auto answer = talk.ask(question);
  if (!answer) return failed(answer.error().text);
  return answer;
}

}  // namespace ddprun::rdzvctl
