// The tables of docs/scaling.md: measures what one rank and one agent cost, predicts large jobs
// from that, and simulates those that the descriptors of one process allow.
//
//   ddprun_scaling --rdzvd FILE [--rounds N] [--most N] [--costs TEXT] [--no-simulation]
//
// --costs TEXT, a line that an earlier run has printed, is used instead of measuring.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/scaling/model.h"
#include "tests/bench/scaling/simulation.h"

namespace ddprun::bench::scaling {
namespace {

struct Options {
  Programs programs;
  int rounds = 5;
  int most = 19'900;  // connections
  std::optional<Costs> costs;
  bool simulation = true;
};

constexpr std::array kRanks{1'000, 5'000, 10'000, 19'900};
constexpr std::array kAgents{500, 1'000, 3'000, 4'000};

Options parse(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--no-simulation") {
      options.simulation = false;
      continue;
    }
    if (i + 1 == words.size()) throw std::invalid_argument(words[i] + " needs a value");
    const std::string& option = words[i];
    const std::string& value = words[++i];
    if (option == "--rdzvd") {
      options.programs.rdzvd = value;
    } else if (option == "--rounds") {
      options.rounds = std::max(1, std::atoi(value.c_str()));
    } else if (option == "--most") {
      options.most = std::max(1, std::atoi(value.c_str()));
    } else if (option == "--costs") {
      options.costs = parse_costs(value).value();
    } else {
      throw std::invalid_argument("there is no option " + option);
    }
  }
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  options.programs.store_clients = folder / "store_clients";
  options.programs.store_load = folder / "store_load";
  options.programs.agents = folder / "simulated_agents";
  return options;
}

void simulate(const Options& options, const Costs& costs) {
  std::printf(
      "\n| ranks | time: model | simulated | server CPU: model | simulated | "
      "memory of one rank, bytes | sent for one rank, bytes | time, all at once "
      "|\n|---|---|---|---|---|---|---|---|\n");
  for (const int ranks : kRanks) {
    if (ranks > options.most) break;
    const Simulated model = predict_storm(costs, ranks);
    const Measured real = storm(options.programs, ranks, options.rounds);
    const Measured at_once = storm(options.programs, ranks, options.rounds, ranks);
    std::printf("| %d | %.0f ms | %.0f ms | %.0f ms | %.0f ms | %.0f | %.0f | %.0f ms |\n", ranks,
                model.wall, real.wall, model.cpu, real.cpu, real.memory, real.wire, at_once.wall);
    std::fflush(stdout);
  }
  std::printf(
      "\n| agents | join, server CPU: model | simulated | time | "
      "sent for one agent, bytes: model | simulated | failure: model | simulated |\n"
      "|---|---|---|---|---|---|---|---|\n");
  for (const int agents : kAgents) {
    if (agents > options.most) break;
    const Measured joined = join(options.programs, agents, options.rounds);
    const Measured failed = failure(options.programs, agents, options.rounds);
    std::printf("| %d | %.0f ms | %.0f ms | %.0f ms | %.0f | %.0f | %.1f ms | %.1f ms |\n", agents,
                predict_join_cpu(costs, agents), joined.cpu, joined.wall,
                costs.agent_wire + agents * costs.entry_wire, joined.wire,
                predict_failure(costs, agents), failed.wall);
    std::fflush(stdout);
  }
}

void show_model(const Costs& costs) {
  std::printf(
      "\n| ranks | nodes | store storm | of it CPU | wire | with a proxy | memory | ranks "
      "beyond the accept queue | roster join | sent for it | failure |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const double ranks : {1e3, 1e4, 1e5}) {
    const Prediction p = predict(costs, {}, ranks);
    std::printf(
        "| %.0f | %.0f | %.0f ms | %.0f ms | %.1f ms | %.0f ms | %.1f MB | %.0f | %.0f ms | "
        "%.1f MB | %.1f ms |\n",
        p.ranks, p.nodes, p.store, p.store_cpu, p.store_wire, p.proxied_store, p.store_megabytes,
        p.behind_queue, p.join, p.join_wire_megabytes, p.failure);
  }
}

}  // namespace
}  // namespace ddprun::bench::scaling

int main(int argc, char** argv) try {
  using namespace ddprun::bench::scaling;
  const Options options = parse({argv + 1, argv + argc});
  const Costs costs =
      options.costs ? *options.costs : measure(options.programs, 3 * options.rounds);
  std::printf("costs: %s\n", to_text(costs).c_str());
  std::fflush(stdout);
  if (options.simulation) simulate(options, costs);
  show_model(costs);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "ddprun_scaling: %s\n", error.what());
  return 1;
}
