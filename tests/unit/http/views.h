// What the pages of the tests show.
#pragma once

#include "rendezvous/http/view.h"

namespace ddprun::http {

using namespace std::chrono_literals;
using roster::NodeSnapshot;
using roster::Snapshot;

inline NodeSnapshot node(int rank, const std::string& name) {
  return {.node = name,
          .state = NodeSnapshot::State::working,
          .address = "10.0.0.2:4711",
          .pid = 77,
          .nproc = 2,
          .node_rank = rank,
          .first_rank = 2 * rank,
          .workers = {{.pid = 901, .device = "GPU 4"}, {.pid = 902, .device = "GPU 6"}},
          .heard_ago = 1500ms};
}

inline Snapshot run(const std::string& id) {
  return {.run = id,
          .state = Snapshot::State::running,
          .age = 90s,
          .in_state = 30s,
          .round = 3,
          .restarts = 1,
          .max_restarts = 5,
          .min_nodes = 2,
          .max_nodes = 4,
          .world_size = 4,
          .store = "10.0.0.2:29500",
          .nodes = {node(0, "alpha"), node(1, "beta")},
          .run_directory = "abc-1"};
}

inline View view(std::vector<Snapshot> runs) {
  const std::size_t count = runs.size();
  return {.host = "hub",
          .version = "0.1.0",
          .age = 3600s,
          .runs = std::move(runs),
          .runs_in_all = count};
}

}  // namespace ddprun::http
