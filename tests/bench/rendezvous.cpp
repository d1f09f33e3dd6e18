#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "tests/bench/announcer.h"
#include "tests/bench/groups.h"
#include "tests/bench/nodes.h"

namespace ddprun::bench {
namespace {

constexpr int kSimulatedAgents = 1'000;

struct Size {
  int nodes;
  int most_rounds;
  int torchrun_rounds;  // 0: not with torchrun, which takes 1.3 s of a CPU for each node
};

constexpr Size kSizes[] = {{2, 1000, 3}, {16, 9, 1}, {128, 3, 0}};

using Launchers = std::function<std::vector<Words>()>;

Probe all_run(const Setup& setup, Row row, Launchers launchers, int most_rounds) {
  return {{std::move(row)},
          [setup, launchers] { return std::vector{time_to_last_start(setup, launchers())}; },
          most_rounds};
}

// As many launchers, none of which knows of the others.
std::vector<Words> single_nodes(const Setup& setup, int count) {
  return std::vector<Words>(static_cast<std::size_t>(count), ddprun_words(setup, 1));
}

Block meeting(const Setup& setup, const Size& size) {
  const int count = size.nodes;
  const std::string n = std::to_string(count);
  const std::string floor = n + " times ddprun -n 1, each by itself: all run",
                    fixed = n + " nodes, static: all run", arrival = n + " nodes, c10d: all run";
  const auto nodes = [setup, n, count](Meeting how) {
    return [setup, n, count, how] { return node_words(setup, how, n, count); };
  };
  Block block{"rendezvous", {}};
  block.probes = {
      all_run(
          setup, {floor, "ms"}, [setup, count] { return single_nodes(setup, count); },
          size.most_rounds),
      all_run(setup, {fixed, "ms", {}, floor}, nodes(Meeting::fixed), size.most_rounds),
      all_run(setup, {arrival, "ms", {}, floor}, nodes(Meeting::arrival), size.most_rounds)};
  if (size.torchrun_rounds == 0) return block;
  block.probes.push_back(all_run(
      setup, {n + " nodes: torchrun, c10d", "ms", ratio_at_least(10), arrival},
      [setup, count] { return torchrun_node_words(setup, count); }, size.torchrun_rounds));
  block.probes.back().missing = no_torchrun(setup);
  return block;
}

Block simulated(const Setup& setup) {
  const std::string n = std::to_string(std::min(kSimulatedAgents, setup.most_clients));
  Probe probe{{{n + " simulated agents join one rdzvd", "ms", median_at_most(2'000)}},
              [setup, n] {
                const Announcer server({setup.rdzvd, "--listen", "127.0.0.1:0"});
                const auto port = static_cast<int>(server.number());
                const Announcer agents({setup.agents, std::to_string(port), n});
                return std::vector{agents.number()};
              },
              7,
              no_rdzvd(setup)};
  return {"rendezvous", {std::move(probe)}};
}

}  // namespace

std::vector<Block> rendezvous_group(const Setup& setup) {
  std::vector<Block> blocks;
  for (const Size& size : kSizes)
    if (size.nodes <= setup.most_workers) blocks.push_back(meeting(setup, size));
  blocks.push_back(simulated(setup));
  return blocks;
}

}  // namespace ddprun::bench
