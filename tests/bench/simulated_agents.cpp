// Agents of so many nodes without workers, in one process: each joins one run at a server on
// 127.0.0.1 and waits for its assignment.
//
//   simulated_agents PORT COUNT
//
// Prints the milliseconds from before the first connect until the last one has it, or why that
// failed, and stays with its connections until it is killed.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/protocol/roster_frames.h"
#include "tests/bench/crowd.h"
#include "tests/bench/stamps.h"

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

 private:
  std::string opening_and_join(std::size_t agent) const {
    std::string bytes;
    protocol::encode_opening(bytes, protocol::kRosterProtocol);
    const int nodes = static_cast<int>(count_);
    protocol::encode(bytes, protocol::Join{.run = "bench",
                                           .node = "node" + std::to_string(agent),
                                           .pid = 1 + static_cast<int>(agent),
                                           .version = "0.1.0",
                                           .program = "crc32:1234",
                                           .addresses = {"127.0.0.1"},
                                           .store_port = 29'501,
                                           .nproc = 8,
                                           .min_nodes = nodes,
                                           .max_nodes = nodes,
                                           .join_timeout = std::chrono::seconds(600),
                                           .last_call_timeout = std::chrono::seconds(30),
                                           .reconnect_timeout = std::chrono::seconds(5)});
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

int main(int argc, char** argv) try {
  if (argc != 3) throw std::invalid_argument("usage: simulated_agents PORT COUNT");
  Agents agents(static_cast<std::uint16_t>(std::atoi(argv[1])),
                static_cast<std::size_t>(std::atoi(argv[2])));
  const std::int64_t start = bench::now_ns();
  agents.join();
  std::printf("%.3f\n", bench::milliseconds(start, bench::now_ns()));
  std::fflush(stdout);
  for (;;) ::pause();
} catch (const std::exception& error) {
  std::printf("%s\n", error.what());
  return 1;
}
