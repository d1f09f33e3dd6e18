// A server's side of the roster protocol, without sockets: bytes of agents in, bytes for them out.
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/protocol/roster_frames.h"
#include "rendezvous/roster/runs.h"
#include "tests/counts/counted.h"

namespace ddprun::counts {
namespace {

using namespace protocol;
using namespace std::chrono_literals;

constexpr int kRanksOfNode = 8;

std::string join_of(std::size_t node, std::size_t nodes) {
  std::string bytes;
  encode_opening(bytes, kRosterProtocol);
  const int count = static_cast<int>(nodes);
  encode(bytes, Join{.run = "counts",
                     .node = "node" + std::to_string(node),
                     .pid = 1 + static_cast<int>(node),
                     .version = "0.1.0",
                     .program = "crc32:1234",
                     .addresses = {"10.0.0.1", "10.1.0.1"},
                     .store_port = 29'501,
                     .nproc = kRanksOfNode,
                     .min_nodes = count,
                     .max_nodes = count,
                     .max_restarts = 1,
                     .join_timeout = 600s,
                     .last_call_timeout = 30s,
                     .reconnect_timeout = 5s});
  return bytes;
}

template <class Message>
std::string frame_of(const Message& message) {
  std::string bytes;
  encode(bytes, AgentMessage(message));
  return bytes;
}

class PureRoster {
 public:
  explicit PureRoster(std::size_t nodes) : parsers_(nodes) {}

  // Bytes of one node's agent arrive.
  void take(std::size_t node, const std::string& bytes) {
    parsers_[node].feed(bytes);
    while (const auto frame = parsers_[node].next()) {
      const auto message = decode_agent_message(*frame);
      must(message.has_value(), "a message cannot be read");
      carry_out(runs_.on_message(now_, {1 + node, "10.0.0.1:1234", false}, *message));
    }
    now_ += 1ms;
  }

  // How many messages of this type all agents got together.
  template <class Message>
  std::size_t told() const {
    const auto found = told_.find(type_name(ServerMessage(Message())));
    return found == told_.end() ? 0 : found->second;
  }
  std::uint64_t last_ping() const { return last_ping_; }

 private:
  // As the server does: encoded once, whoever gets it.
  void carry_out(const roster::Decision& decision) {
    for (const roster::Effect& effect : decision.effects) {
      const auto* send = std::get_if<roster::Send>(&effect);
      if (send == nullptr) continue;
      std::string bytes;
      must(encode(bytes, send->message).has_value(), "a message is too large");
      told_[type_name(send->message)] += send->to.size();
      if (const auto* ping = std::get_if<Ping>(&send->message)) last_ping_ = ping->id;
    }
  }

  roster::Time now_{};
  roster::Server identity_{.id = "s", .host = "hub", .version = "0.1.0"};
  roster::Runs runs_{identity_};
  std::vector<FrameParser> parsers_;
  std::map<std::string_view, std::size_t> told_;
  std::uint64_t last_ping_ = 0;
};

std::vector<std::string> joins_of(std::size_t nodes) {
  std::vector<std::string> joins;
  for (std::size_t node = 0; node < nodes; ++node) joins.push_back(join_of(node, nodes));
  return joins;
}

void join_all(PureRoster& roster, const std::vector<std::string>& joins) {
  for (std::size_t node = 0; node < joins.size(); ++node) roster.take(node, joins[node]);
}

}  // namespace

void run_roster_join(std::size_t nodes) {
  PureRoster roster(nodes);
  const std::vector<std::string> joins = joins_of(nodes);
  counted([&] { join_all(roster, joins); });
  must(roster.told<Assignment>() == nodes, "not all agents have an assignment");
}

void run_roster_failure(std::size_t nodes) {
  PureRoster roster(nodes);
  join_all(roster, joins_of(nodes));
  const std::string failed = frame_of(Failed{.round = 0, .code = 7, .lines = {"out of memory"}});
  counted([&] { roster.take(0, failed); });
  const std::string pong = frame_of(Pong{roster.last_ping()});
  const std::string drained = frame_of(Drained{.round = 0, .store_port = 29'502});
  counted([&] {
    for (std::size_t node = 1; node < nodes; ++node) roster.take(node, pong);
    for (std::size_t node = 0; node < nodes; ++node) roster.take(node, drained);
  });
  must(roster.told<Restart>() == nodes && roster.told<Assignment>() == 2 * nodes,
       "not all agents have begun anew");
}

}  // namespace ddprun::counts
