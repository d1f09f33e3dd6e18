#include "tests/bench/store_rates.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/bench/announcer.h"
#include "tests/bench/store_servers.h"

namespace ddprun::bench {
namespace {

constexpr int kRounds = 9;
constexpr int kLeastTurns = 5;  // of each client

struct Operation {
  const char* word;  // for store_load
  const char* name;
  bool redis;  // has one like it
};

constexpr Operation kOperations[] = {{"add", "ADD", true},
                                     {"get", "GET", true},
                                     {"set_get", "SET and GET", true},
                                     {"wait", "ADD, WAIT and wake", false}};

// What a server is compared with, and by which goals.
struct Comparison {
  std::string peer;  // empty: nothing
  Goal time = {}, cpu = {};
};

struct Size {
  int clients;
  int share;  // this part of setup.store_operations: a single client waits for each answer
  Goal to_libuv, cpu_to_libuv, to_floor;
};

// Microseconds of one operation: by the clock, and of the server's CPU.
std::pair<double, double> cost(const std::string& line) {
  std::istringstream words(line);
  std::pair<double, double> found;
  if (!(words >> found.first >> found.second)) throw std::runtime_error(line);
  return found;
}

std::vector<Operation> operations_of(const StoreServer& kind) {
  std::vector<Operation> operations(std::begin(kOperations), std::end(kOperations));
  if (kind.talk == "redis") std::erase_if(operations, [](const auto& each) { return !each.redis; });
  return operations;
}

// Of all operations, one after the other with the same server.
std::vector<double> costs(const StoreServer& kind, const std::string& load_program, int clients,
                          int count) {
  const Announcer server(kind.command);
  const std::string port = std::to_string(static_cast<int>(server.number()));
  std::vector<double> values;
  for (const Operation& operation : operations_of(kind)) {
    const Announcer load({load_program, port, std::to_string(server.pid()), std::to_string(clients),
                          operation.word, std::to_string(count), kind.talk});
    const auto [time, cpu] = cost(load.line());
    values.push_back(time);
    values.push_back(cpu);
  }
  return values;
}

Row compared(const std::string& what, const std::string& own, const std::string& peer, Goal goal) {
  return peer.empty() ? Row{what + own, "us"} : Row{what + own, "us", goal, what + peer};
}

// Two rows for each operation, in the order of costs().
std::vector<Row> rows_of(const StoreServer& kind, const Size& size, const Comparison& to) {
  std::vector<Row> rows;
  const std::string clients =
      std::to_string(size.clients) + (size.clients == 1 ? " client, " : " clients, ");
  for (const Operation& operation : operations_of(kind)) {
    const std::string what = clients + operation.name;
    rows.push_back(compared(what + ": ", kind.name, to.peer, to.time));
    rows.push_back(compared(what + ", server CPU: ", kind.name, to.peer, to.cpu));
  }
  return rows;
}

Probe probe(const Setup& setup, const StoreServer& kind, const Size& size, const Comparison& to) {
  const int count = std::max(setup.store_operations / size.share, kLeastTurns * size.clients);
  return {rows_of(kind, size, to),
          [kind, count, clients = size.clients, program = setup.store_load] {
            return costs(kind, program, clients, count);
          },
          kRounds, kind.missing};
}

// The times once more, in rows that are compared with those of `floor`.
Probe also_against(Probe probe, const StoreServer& floor, Goal goal) {
  const std::size_t figures = probe.rows.size();
  for (std::size_t i = 0; i < figures; i += 2) {
    const std::string own = probe.rows[i].name;
    probe.rows.push_back({own + ", against " + floor.name, "us", goal,
                          own.substr(0, own.find(": ") + 2) + floor.name});
  }
  probe.measure = [measure = probe.measure, figures] {
    std::vector<double> values = measure();
    for (std::size_t i = 0; i < figures; i += 2) values.push_back(values[i]);
    return values;
  };
  return probe;
}

Block rates(const Setup& setup, const Size& size) {
  const StoreServer own = rdzvd_store(setup), floor = raw_epoll_store(setup),
                    libuv = with_names(setup, libuv_store(setup), "none");
  return {"store",
          {probe(setup, libuv, size, {}), probe(setup, floor, size, {}),
           probe(setup, redis_store(setup), size, {own.name}),
           also_against(probe(setup, own, size, {libuv.name, size.to_libuv, size.cpu_to_libuv}),
                        floor, size.to_floor)}};
}

}  // namespace

std::vector<Block> store_rates(const Setup& setup) {
  const Goal as_fast = ratio_at_most(1), less_cpu = ratio_at_most(0.95),
             near_floor = ratio_at_most(1.053);  // 0.95 of its operations in a second
  std::vector<Block> blocks;
  for (const Size& size :
       {Size{1, 4, {}, {}, {}}, Size{64, 1, as_fast, less_cpu, near_floor},
        Size{1'000, 1, as_fast, less_cpu, near_floor}, Size{8'000, 1, {}, {}, {}}})
    if (size.clients <= setup.most_clients) blocks.push_back(rates(setup, size));
  return blocks;
}

}  // namespace ddprun::bench
