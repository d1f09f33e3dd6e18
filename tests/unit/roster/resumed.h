// A job whose daemon was killed, and the new daemon.
#pragma once

#include "tests/unit/roster/server_of_runs.h"

namespace ddprun::roster {

// The old daemon ran a job of nodes a and b; the new one is `server`.
struct Resumed {
  explicit Resumed(int min = 2, int max_restarts = 0, bool given_ranks = false) {
    ServerOfRuns old;
    joins = {node("a", min, 2), node("b", min, 2)};
    for (Join& join : joins) join.max_restarts = max_restarts;
    for (std::size_t i = 0; given_ranks && i < 2; ++i) {
      joins[i].static_ranks = true;
      joins[i].node_rank = static_cast<int>(i);
    }
    for (Join& join : joins) ids.push_back(old.connect(join));
    for (std::size_t i = 0; i < 2; ++i) {
      joins[i].held =
          Held{.server = "old", .member = ids[i], .assignment = old.last<Assignment>(ids[i])};
      joins[i].former = Former{.server = "old", .run_directory = "old-1"};
    }
  }
  // The node of rank 2 comes back and says that it has failed.
  MemberId failed_node() {
    const MemberId id = server.connect(joins[1]);
    server.say(id, Failed{.round = 0, .rank = 2, .local_rank = 0, .code = 7, .age = 1s});
    return id;
  }
  // The node's ddprun was started anew meanwhile.
  Join fresh(std::size_t i) const {
    Join join = joins[i];
    join.held.reset();
    join.former.reset();
    ++join.pid;
    return join;
  }
  std::vector<Join> joins;
  std::vector<MemberId> ids;
  ServerOfRuns server;
};

}  // namespace ddprun::roster
