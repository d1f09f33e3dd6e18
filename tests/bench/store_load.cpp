// Clients that keep a c10d store on 127.0.0.1 busy, each with one request at a time.
//
//   store_load PORT PID CLIENTS OPERATION COUNT
//
// OPERATION is add, get, set_get (SET and GET in one piece) or wait: all clients WAIT for one key,
// one more SETs it when all of them are known to wait, and so on. COUNT operations are shared among
// the clients, which are connected before the clock starts. Prints the microseconds of one
// operation and of the CPU of process PID, the server, for it, or why that failed; stays until it
// is killed.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "rendezvous/protocol/encode.h"
#include "tests/bench/crowd.h"
#include "tests/bench/observed_process.h"
#include "tests/bench/stamps.h"

namespace {

using namespace ddprun;
using protocol::Operation;

const std::string kValue(64, 'v');

struct Job {
  std::uint16_t port;
  pid_t server;
  std::size_t clients;
  std::string operation;
  std::size_t count;
};

// Of replies only the number of bytes counts here; the tests know that they are right.
class Load {
 public:
  // The last client of the crowd is the one that SETs what the others wait for.
  explicit Load(const Job& job)
      : job_(job),
        waits_(job.operation == "wait"),
        turns_(std::max<std::size_t>(1, job.count / job.clients)),
        received_(job.clients + 1),
        turn_(job.clients + 1),
        crowd_({.port = job.port, .clients = job.clients + 1}) {}

  void connect() {
    crowd_.run(
        [](std::size_t) {
          std::string bytes;
          protocol::encode_validate(bytes);
          protocol::encode_ping(bytes, 0xDDDDDDDD);
          protocol::encode_key_value(bytes, Operation::kSet, "/k", kValue);
          return bytes;
        },
        [this](std::size_t client, std::string_view) { crowd_.finish(client); });
  }

  void work() {
    for (std::size_t client = 0; client < job_.clients; ++client) ask(client);
    crowd_.go_on([this](std::size_t client, std::string_view bytes) {
      received_[client] += bytes.size();
      answered(client);
    });
  }

  std::size_t operations() const { return turns_ * job_.clients; }

 private:
  // The number of bytes of one turn's replies.
  std::size_t reply_bytes() const {
    if (job_.operation == "add") return 8;
    return waits_ ? 9 : 8 + kValue.size();
  }

  std::string request(std::size_t client) const {
    std::string bytes;
    const std::string key = "/client/" + std::to_string(client);
    if (job_.operation == "add") {
      protocol::encode_key_number(bytes, Operation::kAdd, key, 1);
    } else if (job_.operation == "get") {
      protocol::encode_key(bytes, Operation::kGet, "/k");
    } else if (job_.operation == "set_get") {
      protocol::encode_key_value(bytes, Operation::kSet, key, kValue);
      protocol::encode_key(bytes, Operation::kGet, key);
    } else if (waits_) {
      const std::string go = go_key(turn_[client]);
      protocol::encode_key_number(bytes, Operation::kAdd, "/here", 1);
      protocol::encode_keys(bytes, Operation::kWait, std::span(&go, 1));
    } else {
      throw std::invalid_argument("unknown operation " + job_.operation);
    }
    return bytes;
  }

  static std::string go_key(std::size_t turn) { return "/go/" + std::to_string(turn); }

  void ask(std::size_t client) { crowd_.send(client, request(client)); }

  void answered(std::size_t client) {
    if (waits_ && received_[client] >= 8 && !counted(client)) count_waiting();
    if (received_[client] < reply_bytes()) return;
    received_[client] = 0;
    if (++turn_[client] < turns_) return ask(client);
    crowd_.finish(client);
    if (++done_ == job_.clients) crowd_.finish(job_.clients);
  }

  // ADD is answered, so the WAIT behind it in the same piece is with the server.
  bool counted(std::size_t client) {
    if (counted_.empty()) counted_.resize(job_.clients, 0);
    const bool before = counted_[client] > turn_[client];
    counted_[client] = turn_[client] + 1;
    return before;
  }

  void count_waiting() {
    if (++waiting_ < job_.clients) return;
    waiting_ = 0;
    std::string bytes;
    protocol::encode_key_value(bytes, Operation::kSet, go_key(set_turn_++), "1");
    crowd_.send(job_.clients, bytes);
  }

  Job job_;
  bool waits_;
  std::size_t turns_;
  std::vector<std::size_t> received_, turn_, counted_;
  std::size_t waiting_ = 0, set_turn_ = 0, done_ = 0;
  bench::Crowd crowd_;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 6) throw std::invalid_argument("usage: store_load PORT PID CLIENTS OPERATION COUNT");
  const Job job{static_cast<std::uint16_t>(std::atoi(argv[1])), std::atoi(argv[2]),
                static_cast<std::size_t>(std::atoi(argv[3])), argv[4],
                static_cast<std::size_t>(std::atoi(argv[5]))};
  Load load(job);
  load.connect();
  const double cpu = bench::cpu_milliseconds(job.server);
  const std::int64_t start = bench::now_ns();
  load.work();
  const double took = bench::milliseconds(start, bench::now_ns());
  const double spent = bench::cpu_milliseconds(job.server) - cpu;
  const auto operations = static_cast<double>(load.operations());
  std::printf("%.4f %.4f\n", took * 1e3 / operations, spent * 1e3 / operations);
  std::fflush(stdout);
  for (;;) ::pause();
} catch (const std::exception& error) {
  std::printf("%s\n", error.what());
  return 1;
}
