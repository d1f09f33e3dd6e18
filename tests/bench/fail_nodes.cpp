#include "tests/bench/fail_nodes.h"

#include <signal.h>

#include "tests/bench/nodes.h"

namespace ddprun::bench {
namespace {

double death_to_end_elsewhere(const Setup& setup, int node) {
  SilentNodes job(setup, node_words(setup, Meeting::fixed, "2", 2), 2);
  const std::int64_t death = job.kill_worker(node);
  const std::int64_t end = job.wait_for_end(1 - node, 128 + SIGKILL);
  job.wait_for_end(node, 128 + SIGKILL);
  return milliseconds(death, end);
}

// `nodes` is what --nnodes says; two nodes have workers after the loss.
double loss_to_next_round(const Setup& setup, const std::string& nodes, int workers_before) {
  std::vector<Words> launchers = node_words(setup, Meeting::arrival, nodes, 3);
  for (Words& launcher : launchers) launcher = launcher + Words{"--max-restarts", "1"};
  SilentNodes job(setup, launchers, workers_before);
  const std::int64_t loss = job.kill_launcher();
  const auto next = job.stamps().wait_for_after(loss, 2);
  job.stop();
  return milliseconds(loss, last_start(next));
}

}  // namespace

std::vector<Probe> death_on_two_nodes(const Setup& setup, const std::string& peer) {
  const auto probe = [&](const std::string& name, int node) {
    return Probe{{{name, "ms", median_at_most(20), peer}},
                 [setup, node] { return std::vector{death_to_end_elsewhere(setup, node)}; }};
  };
  return {probe("death on node 1 to the end of node 0, which hosts the server", 1),
          probe("death on node 0 to the end of node 1", 0)};
}

std::vector<Probe> lost_node(const Setup& setup, const std::string& peer) {
  const auto probe = [&](const std::string& name, const std::string& nodes, int workers) {
    return Probe{{{name, "ms", median_at_most(300), peer}}, [setup, nodes, workers] {
                   return std::vector{loss_to_next_round(setup, nodes, workers)};
                 }};
  };
  return {probe("loss of 1 of 3 nodes (--nnodes 2:3) to all running again", "2:3", 3),
          probe("loss of 1 of 2 nodes to all running again, with a spare", "2", 2)};
}

}  // namespace ddprun::bench
