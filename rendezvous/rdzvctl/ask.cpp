#include "rendezvous/rdzvctl/ask.h"

#include <algorithm>
#include <optional>
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

using client::Clock;

constexpr std::chrono::seconds kTurn{2};          // of one server, where there is another to ask
constexpr std::chrono::milliseconds kPause{200};  // while there is no head

// One whose host is dead has only its turn. Who has said that it is there may take its time with
// the answer, which may have to be asked for elsewhere.
struct Patience {
  Clock::time_point turn;
  Clock::time_point all;
};

// A connection and what has arrived on it.
class Talk {
 public:
  Talk(client::Connection connection, Patience patience)
      : connection_(std::move(connection)), patience_(patience) {
    protocol::encode_opening(unsent_, protocol::kRosterProtocol);
  }

  Result<ServerMessage> ask(const protocol::AgentMessage& message) {
    protocol::encode(unsent_, message);
    if (const auto sent = connection_.send(std::exchange(unsent_, {}), until()); !sent)
      return sent.error();
    return read();
  }

 private:
  Clock::time_point until() const { return parser_.peer_number() ? patience_.all : patience_.turn; }
  Result<ServerMessage> read() {
    while (true) {
      const auto frame = parser_.next();
      if (parser_.failed()) return Error{"that is no rendezvous server: " + parser_.error()};
      if (frame) return decode(*frame);
      const auto bytes = connection_.receive(until());
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
  Patience patience_;
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
                              const protocol::AgentMessage& question, Patience patience) {
  auto connection =
      client::Connection::open(server.host, server.port, patience.turn, "the rendezvous server");
  if (!connection) return Error{connection.error().text + where_else(server)};
  if (keys.tls) {
    const auto secured = connection->secure(keys.tls->for_peer(server.host), patience.turn);
    if (!secured) return secured.error();
  }
  const std::string binding = connection->binding();
  Talk talk(std::move(*connection), patience);
  if (keys.token)
    if (const auto shown = show_token(talk, keys.token, binding); !shown) return shown.error();
  return talk.ask(question);
}

// What came of asking one server.
struct Found {
  std::optional<Answer> answer;
  std::string problem;  // without one
  std::optional<protocol::Elsewhere> elsewhere = {};
};

Found look(const Endpoint& server, const Keys& keys, const protocol::AgentMessage& question,
           Patience patience) {
  auto message = ask_one(server, keys, question, patience);
  if (!message) return {.answer = {}, .problem = message.error().text};
  if (auto* elsewhere = std::get_if<protocol::Elsewhere>(&*message))
    return {.answer = {},
            .problem = "no head now: " + elsewhere->why,
            .elsewhere = std::move(*elsewhere)};
  return {.answer = Answer{server, std::move(*message)}, .problem = {}};
}

// One that stands by says where the head is, which may have been lost a moment ago.
Found look_for_head(const Endpoint& server, const Keys& keys,
                    const protocol::AgentMessage& question, Patience patience) {
  Found found = look(server, keys, question, patience);
  if (!found.elsewhere || !found.elsewhere->endpoint) return found;
  const auto head = parse_endpoint(*found.elsewhere->endpoint);
  if (!head) return found;
  patience.turn = std::min(patience.all, Clock::now() + kTurn);
  Found at_head = look(*head, keys, question, patience);
  if (at_head.answer) return at_head;
  found.problem = "the head is to be at " + to_text(*head) + ": " + at_head.problem;
  return found;
}

}  // namespace

Result<Answer> ask(std::span<const Endpoint> servers, const Keys& keys,
                   const protocol::AgentMessage& question, std::chrono::milliseconds limit) {
  const auto until = Clock::now() + limit;
  while (true) {
    std::string problems;
    bool headless = false;
    for (const Endpoint& server : servers) {
      const auto turn = servers.size() == 1 ? until : std::min(until, Clock::now() + kTurn);
      Found found = look_for_head(server, keys, question, {.turn = turn, .all = until});
      if (found.answer) {
        const auto* refused = std::get_if<protocol::Refused>(&found.answer->message);
        if (refused != nullptr) return Error{to_text(found.answer->server) + ": " + refused->why};
        return std::move(*found.answer);
      }
      headless = headless || found.elsewhere;
      problems += (problems.empty() ? "" : "; ") + to_text(server) + ": " + found.problem;
    }
    if (!headless || Clock::now() + kPause >= until) return Error{problems};
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace ddprun::rdzvctl
