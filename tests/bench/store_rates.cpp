#include "tests/bench/store_rates.h"

#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/bench/announcer.h"
#include "tests/bench/store_servers.h"

namespace ddprun::bench {
namespace {

constexpr int kRounds = 5;

struct Operation {
  const char* word;  // for store_load
  const char* name;
};

constexpr Operation kOperations[] = {
    {"add", "ADD"}, {"get", "GET"}, {"set_get", "SET and GET"}, {"wait", "ADD, WAIT and wake"}};

// Microseconds of one operation: by the clock, and of the server's CPU.
std::pair<double, double> cost(const std::string& line) {
  std::istringstream words(line);
  std::pair<double, double> found;
  if (!(words >> found.first >> found.second)) throw std::runtime_error(line);
  return found;
}

// Of all operations, one after the other with the same server.
std::vector<double> costs(const Setup& setup, const StoreServer& kind, int clients) {
  const Announcer server(kind.command);
  const std::string port = std::to_string(static_cast<int>(server.number()));
  std::vector<double> values;
  for (const Operation& operation : kOperations) {
    const Announcer load({setup.store_load, port, std::to_string(server.pid()),
                          std::to_string(clients), operation.word,
                          std::to_string(setup.store_operations)});
    const auto [time, cpu] = cost(load.line());
    values.push_back(time);
    values.push_back(cpu);
  }
  return values;
}

Probe probe(const Setup& setup, const StoreServer& kind, int clients, const StoreServer* peer) {
  Probe made{
      {}, [setup, kind, clients] { return costs(setup, kind, clients); }, kRounds, kind.missing};
  for (const Operation& operation : kOperations) {
    const std::string what = std::to_string(clients) + " clients, " + operation.name;
    const auto row = [&](const std::string& of, double limit) {
      return peer == nullptr
                 ? Row{what + of + kind.name, "us"}
                 : Row{what + of + kind.name, "us", ratio_at_most(limit), what + of + peer->name};
    };
    made.rows.push_back(row(": ", 1.0));
    made.rows.push_back(row(", server CPU: ", 0.95));
  }
  return made;
}

}  // namespace

std::vector<Block> store_rates(const Setup& setup) {
  const StoreServer peer = with_names(setup, libuv_store(setup), "none");
  std::vector<Block> blocks;
  for (const int clients : {64, 1'000}) {
    if (clients > setup.most_clients) continue;
    blocks.push_back({"store",
                      {probe(setup, peer, clients, nullptr),
                       probe(setup, raw_epoll_store(setup), clients, nullptr),
                       probe(setup, rdzvd_store(setup), clients, &peer)}});
  }
  return blocks;
}

}  // namespace ddprun::bench
