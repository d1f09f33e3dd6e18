// What a run looks like from outside, for the status page, for rdzvctl and as JSON.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/roster/types.h"

namespace ddprun::roster {

struct NodeSnapshot {
  enum class State {
    waiting,   // for a round to begin
    working,   // its workers run
    stopping,  // its workers are to end
    finished,  // its workers have all ended with 0
    spare,     // not in the round
    away,      // in the round, not connected: it ended well and left, or is to come back
  };
  std::string node;
  State state = State::waiting;
  std::string address;  // of its connection; empty when away
  int pid = 0;          // of its ddprun
  int nproc = 1;
  std::optional<int> node_rank;  // in the round; before it the wanted one, of static only
  std::optional<int> first_rank;
  std::vector<protocol::Started::Worker> workers;  // by local rank; empty until they were started
  nanoseconds heard_ago{};                         // since its last message
};

struct Snapshot {
  enum class State { waiting, running, stopping, resuming };
  std::string run;
  State state = State::waiting;
  nanoseconds age{};       // of the run
  nanoseconds in_state{};  // since the state began
  std::optional<int> round;
  int restarts = 0;
  int max_restarts = 0;
  int min_nodes = 1;
  int max_nodes = 1;
  int world_size = 0;                 // of the present round, else 0
  std::string store;                  // "10.0.0.1:29500"; empty without a round
  std::string missing;                // who is missing, in words; empty while a round runs
  std::vector<NodeSnapshot> nodes;    // by node rank, then spares by arrival
  std::optional<Cause> last_failure;  // a worker's or a node's, of this run
  std::string run_directory;
};

std::string_view name(NodeSnapshot::State state);
std::string_view name(Snapshot::State state);

// One run as an object, as GET /api/v1/runs/ID gives it; times in seconds. The lines of a failed
// worker's output only `with_lines`.
boost::json::object to_json(const Snapshot& snapshot, bool with_lines);

}  // namespace ddprun::roster
