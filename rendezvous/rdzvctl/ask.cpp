#include "rendezvous/rdzvctl/ask.h"

#include <string>
#include <utility>

#include "rendezvous/client/connection.h"
#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/protocol/roster_frames.h"

namespace ddprun::rdzvctl {
namespace {

using protocol::ServerMessage;

Result<ServerMessage> read_answer(client::Connection& connection, client::Clock::time_point until) {
  protocol::FrameParser parser;
  while (true) {
    const auto bytes = connection.receive(until);
    if (!bytes) return Error{"no answer came: " + bytes.error().text};
    parser.feed(*bytes);
    const auto frame = parser.next();
    if (parser.failed()) return Error{"that is no rendezvous server: " + parser.error()};
    if (!frame) continue;
    auto message = protocol::decode_server_message(*frame);
    if (!message) return Error{"the answer cannot be read: " + message.error().text};
    if (const auto* refused = std::get_if<protocol::Refused>(&*message)) return Error{refused->why};
    return message;
  }
}

// Without an endpoint a daemon is asked; not all jobs have one.
std::string where_else(const Endpoint& server) {
  if (server.port != kDefaultRdzvPort) return "";
  return "; is an rdzvd there? A job with --rdzv-backend static is at --endpoint HOST:29500, the "
         "--master-addr and --master-port of its ddprun";
}

}  // namespace

Result<ServerMessage> ask(const Endpoint& server, const protocol::AgentMessage& question,
                          std::chrono::milliseconds limit) {
  const auto until = client::Clock::now() + limit;
  const auto failed = [&](const std::string& why) { return Error{to_text(server) + ": " + why}; };
  auto connection = client::Connection::open(server.host, server.port, until);
  if (!connection) return failed(connection.error().text + where_else(server));
  std::string bytes;
  protocol::encode_opening(bytes, protocol::kRosterProtocol);
  protocol::encode(bytes, question);
  if (const auto sent = connection->send(bytes, until); !sent) return failed(sent.error().text);
  auto answer = read_answer(*connection, until);
  if (!answer) return failed(answer.error().text);
  return answer;
}

}  // namespace ddprun::rdzvctl
