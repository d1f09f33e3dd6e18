// Clients that keep a store server on 127.0.0.1 busy, each with one request at a time.
//
//   store_load PORT PID CLIENTS OPERATION COUNT c10d|redis
//
// OPERATION is add, get, set_get (SET and GET in one piece) or wait: all clients WAIT for one key,
// one more SETs it when all of them are known to wait, and so on. COUNT operations are shared among
// the clients, which are connected before the clock starts. Prints the microseconds of one
// operation and of the CPU of process PID, the server, for it, or why that failed; stays until it
// is killed.
#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/announce.h"
#include "tests/bench/crowd.h"
#include "tests/bench/observed_process.h"
#include "tests/bench/stamps.h"
#include "tests/bench/store_talk.h"

namespace {

using namespace ddprun;

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
  Load(const Job& job, bench::StoreTalk talk)
      : clients_(job.clients),
        talk_(std::move(talk)),
        waits_(job.operation == "wait"),
        turns_(std::max<std::size_t>(1, job.count / job.clients)),
        received_(job.clients + 1),
        turn_(job.clients + 1),
        counted_(job.clients),
        crowd_({.port = job.port, .clients = job.clients + 1}) {}

  void connect() {
    crowd_.run([this](std::size_t) { return talk_.greeting; },
               [this](std::size_t client, std::string_view) { crowd_.finish(client); });
  }

  void work() {
    for (std::size_t client = 0; client < clients_; ++client) ask(client);
    crowd_.go_on([this](std::size_t client, std::string_view bytes) {
      received_[client] += bytes.size();
      answered(client, bytes.back());
    });
  }

  std::size_t operations() const { return turns_ * clients_; }

 private:
  void ask(std::size_t client) { crowd_.send(client, talk_.request(client, turn_[client])); }

  bool is_complete(std::size_t client, char last) const {
    return talk_.reply_bytes == 0 ? last == '\n' : received_[client] >= talk_.reply_bytes;
  }

  void answered(std::size_t client, char last) {
    if (waits_ && received_[client] >= 8 && !counted(client)) count_waiting();
    if (!is_complete(client, last)) return;
    received_[client] = 0;
    if (++turn_[client] < turns_) return ask(client);
    crowd_.finish(client);
    if (++done_ == clients_) crowd_.finish(clients_);
  }

  // ADD is answered, so the WAIT behind it in the same piece is with the server.
  bool counted(std::size_t client) {
    return std::exchange(counted_[client], turn_[client] + 1) > turn_[client];
  }

  void count_waiting() {
    if (++waiting_ < clients_) return;
    waiting_ = 0;
    crowd_.send(clients_, bench::set_go(set_turn_++));
  }

  std::size_t clients_;
  bench::StoreTalk talk_;
  bool waits_;
  std::size_t turns_;
  std::vector<std::size_t> received_, turn_, counted_;
  std::size_t waiting_ = 0, set_turn_ = 0, done_ = 0;
  bench::Crowd crowd_;
};

std::string measure(const Job& job, bench::StoreTalk talk) {
  Load load(job, std::move(talk));
  load.connect();
  const double cpu = bench::cpu_milliseconds(job.server);
  const std::int64_t start = bench::now_ns();
  load.work();
  const double took = bench::milliseconds(start, bench::now_ns());
  const double spent = bench::cpu_milliseconds(job.server) - cpu;
  const auto operations = static_cast<double>(load.operations());
  return bench::digits(took * 1e3 / operations) + " " + bench::digits(spent * 1e3 / operations);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::announce([&] {
    if (argc != 7)
      throw std::invalid_argument("usage: store_load PORT PID CLIENTS OPERATION COUNT c10d|redis");
    const Job job{static_cast<std::uint16_t>(std::atoi(argv[1])), std::atoi(argv[2]),
                  static_cast<std::size_t>(std::atoi(argv[3])), argv[4],
                  static_cast<std::size_t>(std::atoi(argv[5]))};
    const bool redis = argv[6] == std::string("redis");
    return measure(job, redis ? bench::redis_talk(argv[4]) : bench::c10d_talk(argv[4]));
  });
}
