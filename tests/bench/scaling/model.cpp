#include "tests/bench/scaling/model.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

namespace ddprun::bench::scaling {
namespace {

// Of a rank: to connect, and for PING, ADD, SET and ADD, WAIT and GET.
constexpr double kStoreTrips = 6;
// Requests of a rank that only the head can answer: two ADDs and a SET. With a proxy the WAIT and
// the GET are one for each node.
constexpr double kForwarded = 3, kSharedByNode = 2;
constexpr double kJoinTrips = 2;     // connect; Join and Assignment
constexpr double kFailureTrips = 2;  // Failed and Ping; Pong and Restart

using Member = double& (*)(Costs&);
struct Field {
  std::string_view name;
  Member of;
};
constexpr std::array kFields{
    Field{"rank_cpu", [](Costs& costs) -> double& { return costs.rank_cpu.at_1000; }},
    Field{"rank_cpu_tenfold", [](Costs& costs) -> double& { return costs.rank_cpu.tenfold; }},
    Field{"rank_wall", [](Costs& costs) -> double& { return costs.rank_wall.at_1000; }},
    Field{"rank_wall_tenfold", [](Costs& costs) -> double& { return costs.rank_wall.tenfold; }},
    Field{"rank_memory", [](Costs& costs) -> double& { return costs.rank_memory; }},
    Field{"rank_wire", [](Costs& costs) -> double& { return costs.rank_wire; }},
    Field{"operation_cpu", [](Costs& costs) -> double& { return costs.operation_cpu; }},
    Field{"agent_cpu", [](Costs& costs) -> double& { return costs.agent_cpu; }},
    Field{"entry_cpu", [](Costs& costs) -> double& { return costs.entry_cpu; }},
    Field{"agent_wire", [](Costs& costs) -> double& { return costs.agent_wire; }},
    Field{"entry_wire", [](Costs& costs) -> double& { return costs.entry_wire; }},
    Field{"failure", [](Costs& costs) -> double& { return costs.failure.at_1000; }},
    Field{"failure_tenfold", [](Costs& costs) -> double& { return costs.failure.tenfold; }}};

double wire_ms(double bytes, const Cluster& cluster) {
  return bytes * 8 / (cluster.gigabits * 1e6);
}

Result<void> set(Costs& costs, std::string_view word) {
  const std::size_t equals = word.find('=');
  const auto field = std::ranges::find(kFields, word.substr(0, equals), &Field::name);
  const std::string_view text = equals == word.npos ? "" : word.substr(equals + 1);
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (field != kFields.end() && read.ec == std::errc{} && read.ptr == text.data() + text.size()) {
    field->of(costs) = value;
    return {};
  }
  return Error{"'" + std::string(word) + "' is no cost; write NAME=NUMBER"};
}

}  // namespace

Growing Growing::through(double count, double cost, double other_count, double other_cost) {
  const double tenfold = (other_cost - cost) / std::log10(other_count / count);
  return {.at_1000 = cost - tenfold * std::log10(count / 1000), .tenfold = tenfold};
}

double Growing::at(double count) const {
  return at_1000 + tenfold * std::log10(std::max(count, 1.0) / 1000);
}

std::string to_text(const Costs& costs) {
  Costs copy = costs;
  std::string text;
  for (const Field& field : kFields) {
    std::array<char, 32> number{};
    std::snprintf(number.data(), number.size(), "=%.4g", field.of(copy));
    text += (text.empty() ? "" : " ") + std::string(field.name) + number.data();
  }
  return text;
}

Result<Costs> parse_costs(std::string_view text) {
  Costs costs;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0)
      if (const auto done = set(costs, text.substr(0, end)); !done) return done.error();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return costs;
}

Prediction predict(const Costs& costs, const Cluster& cluster, double ranks) {
  Prediction result{.ranks = ranks, .nodes = std::ceil(ranks / cluster.ranks_per_node)};
  const double nodes = result.nodes, trip = cluster.round_trip_us / 1e3;
  result.store_cpu = ranks * costs.rank_cpu.at(ranks) / 1e3;
  result.store_wire = wire_ms(ranks * costs.rank_wire, cluster);
  result.store = std::max(result.store_cpu, result.store_wire) + kStoreTrips * trip;
  result.store_megabytes = ranks * costs.rank_memory / 1e6;
  result.behind_queue = std::max(0.0, ranks - cluster.accept_queue);
  const double bytes = nodes * (costs.agent_wire + nodes * costs.entry_wire);
  result.join_wire_megabytes = bytes / 1e6;
  result.join =
      std::max(predict_join_cpu(costs, nodes), wire_ms(bytes, cluster)) + kJoinTrips * trip;
  result.failure = predict_failure(costs, nodes) + kFailureTrips * trip;
  // A node's connection costs as a rank's; what its ranks say comes one by one.
  const double forwarded = ranks * kForwarded + nodes * kSharedByNode;
  const double setup =
      costs.rank_cpu.at(nodes) - (kForwarded + kSharedByNode) * costs.operation_cpu;
  result.proxied_store = (nodes * std::max(0.0, setup) + forwarded * costs.operation_cpu) / 1e3 +
                         (kStoreTrips + 1) * trip;
  return result;
}

Simulated predict_storm(const Costs& costs, double ranks) {
  return {.wall = ranks * costs.rank_wall.at(ranks) / 1e3,
          .cpu = ranks * costs.rank_cpu.at(ranks) / 1e3};
}

double predict_failure(const Costs& costs, double agents) {
  return agents * costs.failure.at(agents) / 1e3;
}

double predict_join_cpu(const Costs& costs, double agents) {
  return agents * (costs.agent_cpu + agents * costs.entry_cpu) / 1e3;
}

}  // namespace ddprun::bench::scaling
