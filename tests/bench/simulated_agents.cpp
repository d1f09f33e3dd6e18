// Agents of so many nodes without workers, in one process: each joins one run at a server on
// 127.0.0.1 and waits for its assignment.
//
//   simulated_agents PORT COUNT [fail]
//
// Prints the milliseconds from before the first connect until the last one has it, or why that
// failed, and stays with its connections until it is killed. With `fail` a worker of the first
// agent fails then, and the milliseconds are those until all agents know that a new round follows.
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/protocol/roster_frames.h"
#include "tests/bench/announce.h"
#include "tests/bench/crowd.h"
#include "tests/bench/stamps.h"
#include "tests/unit/server/join_of.h"

namespace {

using namespace ddprun;

class Agents {
 public:
  Agents(std::uint16_t port, std::size_t count)
      : count_(count), parsers_(count), crowd_({.port = port, .clients = count}) {}

  void join() {
    crowd_.run([this](std::size_t agent) { return opening_and_join(agent); },
               [this](std::size_t agent, std::string_view bytes) { take(agent, bytes); });
  }

  // A worker of the first agent fails; returns when all have heard that a new round follows.
  void fail() {
    std::string bytes;
    protocol::encode(bytes, protocol::Failed{.round = 0, .code = 1, .lines = {"out of memory"}});
    crowd_.send(0, bytes);
    crowd_.go_on([this](std::size_t agent, std::string_view more) { take(agent, more); });
  }

 private:
  std::string opening_and_join(std::size_t agent) const {
    std::string bytes;
    protocol::encode_opening(bytes, protocol::kRosterProtocol);
    protocol::Join join =
        server::join_of("bench", "node" + std::to_string(agent), static_cast<int>(count_));
    join.join_timeout = std::chrono::seconds(600);
    join.max_restarts = 1;
    protocol::encode(bytes, join);
    return bytes;
  }

  void take(std::size_t agent, std::string_view bytes) {
    protocol::FrameParser& parser = parsers_[agent];
    parser.feed(bytes);
    while (const auto frame = parser.next()) take_frame(agent, *frame);
    if (parser.failed()) throw std::runtime_error(parser.error());
  }

  // All agents get the same assignment, so one of them reads it and the others compare: a thousand
  // real agents would read it on a thousand machines.
  void take_frame(std::size_t agent, std::string_view frame) {
    if (frame != assignment_) read(agent, frame);
    if (frame == assignment_) crowd_.finish(agent);
  }

  void read(std::size_t agent, std::string_view frame) {
    const auto message = protocol::decode_server_message(frame);
    if (!message) throw std::runtime_error(message.error().text);
    if (const auto* refused = std::get_if<protocol::Refused>(&*message))
      throw std::runtime_error("refused: " + refused->why);
    if (const auto* ping = std::get_if<protocol::Ping>(&*message)) {
      std::string bytes;
      protocol::encode(bytes, protocol::Pong{ping->id});
      crowd_.send(agent, bytes);
    }
    if (std::holds_alternative<protocol::Restart>(*message)) crowd_.finish(agent);
    const auto* assignment = std::get_if<protocol::Assignment>(&*message);
    if (assignment == nullptr) return;
    if (!assignment_.empty() || assignment->nodes.size() != count_)
      throw std::runtime_error("the assignment is not that of all agents");
    assignment_ = frame;
  }

  std::size_t count_;
  std::vector<protocol::FrameParser> parsers_;
  std::string assignment_;  // as JSON
  bench::Crowd crowd_;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::announce([&] {
    const bool fails = argc == 4 && argv[3] == std::string_view("fail");
    if (argc != 3 && !fails)
      throw std::invalid_argument("usage: simulated_agents PORT COUNT [fail]");
    Agents agents(static_cast<std::uint16_t>(std::atoi(argv[1])),
                  static_cast<std::size_t>(std::atoi(argv[2])));
    std::int64_t start = bench::now_ns();
    agents.join();
    if (fails) {
      start = bench::now_ns();
      agents.fail();
    }
    return bench::digits(bench::milliseconds(start, bench::now_ns()));
  });
}
