// Ranks that join a job through one c10d store on 127.0.0.1, as many clients in one process.
//
//   store_clients PORT COUNT [SOURCE [AT_ONCE]]
//
// AT_ONCE of them, 2000, may be connecting at the same time. Each client connects, says VALIDATE
// and PING, counts itself with ADD, leaves an address with SET, meets the others at a key (ADD, and
// WAIT until the last one has SET it), and reads its neighbour's address with GET. Prints the
// milliseconds from before the first connect until the last client has it, or why that failed, and
// stays with its connections until it is killed.
#include <array>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "rendezvous/protocol/encode.h"
#include "rendezvous/protocol/little_endian.h"
#include "rendezvous/protocol/reply_parser.h"
#include "tests/bench/announce.h"
#include "tests/bench/crowd.h"
#include "tests/bench/stamps.h"

namespace {

using namespace ddprun;
using protocol::Operation;

constexpr std::uint32_t kNonce = 0xDDDDDDDD;
const std::string kMet = "/met";

std::string address_key(std::size_t rank) {
  return "/address/" + std::to_string(rank);
}

// As long as what Gloo leaves there.
std::string address_of(std::size_t rank) {
  std::string address = "rank " + std::to_string(rank) + " ";
  address.resize(64, '.');
  return address;
}

class Ranks {
 public:
  explicit Ranks(bench::CrowdOptions options)
      : count_(options.clients), ranks_(count_), crowd_(std::move(options)) {}

  void join() {
    crowd_.run([this](std::size_t rank) { return greeting(rank); },
               [this](std::size_t rank, std::string_view bytes) { take(rank, bytes); });
  }

 private:
  struct Rank {
    std::size_t step = 0;
    protocol::ReplyParser reply{Operation::kPing};
  };
  // What is answered, in this order.
  static constexpr std::array kSteps{Operation::kPing, Operation::kAdd, Operation::kAdd,
                                     Operation::kWait, Operation::kGet};

  std::string greeting(std::size_t) const {
    std::string bytes;
    protocol::encode_validate(bytes);
    protocol::encode_ping(bytes, kNonce);
    return bytes;
  }

  void take(std::size_t rank, std::string_view bytes) {
    Rank& self = ranks_[rank];
    while (!bytes.empty()) {
      bytes.remove_prefix(self.reply.feed(bytes));
      if (self.reply.failed()) throw std::runtime_error("a reply cannot be read");
      if (!self.reply.complete()) return;
      check(rank, self.reply.reply());
      if (++self.step == kSteps.size()) return crowd_.finish(rank);
      self.reply = protocol::ReplyParser(kSteps[self.step]);
    }
  }

  void check(std::size_t rank, const protocol::Reply& reply) {
    switch (ranks_[rank].step) {
      case 0:
        expect(reply.word == kNonce, "PING");
        return add(rank, "/init/");
      case 1:
        return leave_address(rank);
      case 2:
        return meet(rank, reply.number);
      case 3:
        expect(reply.code == protocol::kStopWaiting, "WAIT");
        return ask(rank, Operation::kGet, address_key((rank + 1) % count_));
      default:
        expect(reply.values.at(0) == address_of((rank + 1) % count_), "GET");
    }
  }

  void leave_address(std::size_t rank) {
    std::string bytes;
    protocol::encode_key_value(bytes, Operation::kSet, address_key(rank), address_of(rank));
    protocol::encode_key_number(bytes, Operation::kAdd, "/ready", 1);
    crowd_.send(rank, bytes);
  }

  void meet(std::size_t rank, std::int64_t here) {
    std::string bytes;
    if (here == static_cast<std::int64_t>(count_))
      protocol::encode_key_value(bytes, Operation::kSet, kMet, "1");
    protocol::encode_keys(bytes, Operation::kWait, std::span(&kMet, 1));
    crowd_.send(rank, bytes);
  }

  void add(std::size_t rank, const std::string& key) {
    std::string bytes;
    protocol::encode_key_number(bytes, Operation::kAdd, key, 1);
    crowd_.send(rank, bytes);
  }

  void ask(std::size_t rank, Operation operation, const std::string& key) {
    std::string bytes;
    protocol::encode_key(bytes, operation, key);
    crowd_.send(rank, bytes);
  }

  static void expect(bool right, const char* operation) {
    if (!right) throw std::runtime_error(std::string(operation) + " has a wrong reply");
  }

  std::size_t count_;
  std::vector<Rank> ranks_;
  bench::Crowd crowd_;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::announce([&] {
    if (argc < 3) throw std::invalid_argument("usage: store_clients PORT COUNT [SOURCE [AT_ONCE]]");
    bench::CrowdOptions options{.port = static_cast<std::uint16_t>(std::atoi(argv[1])),
                                .source = argc > 3 ? argv[3] : "127.0.0.1",
                                .clients = static_cast<std::size_t>(std::atoi(argv[2]))};
    if (argc > 4) options.at_once = static_cast<std::size_t>(std::atoi(argv[4]));
    Ranks ranks(std::move(options));
    const std::int64_t start = bench::now_ns();
    ranks.join();
    return bench::digits(bench::milliseconds(start, bench::now_ns()));
  });
}
