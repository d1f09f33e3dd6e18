// What the next server of a run has to know of it, and what the nodes that come back to it cannot
// tell. It is kept as JSON where that server finds it; see roster_codec.h. Members as in
// roster_messages.h: one that is added later must be optional.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "rendezvous/protocol/roster_messages.h"

namespace ddprun::protocol {

// One node of a recorded round.
struct RecordedNode {
  int pid = 0;  // of its ddprun; 0: not known
  bool finished = false;
};

struct RecordedRound {
  std::string server;     // Welcome::server of the one that began it
  Assignment assignment;  // without the key of the store, which nobody has to know for this
  std::vector<RecordedNode> nodes;  // by node rank
  std::optional<Restart> ended_by;  // the round is over, and another one is to follow
};

// What all nodes of a run must agree on, and what they should, as its first node said it.
struct Terms {
  std::string run;
  std::string node;  // who said it
  int pid = 0;       // of that ddprun
  std::string version;
  int min_nodes = 1;
  int max_nodes = 1;
  int max_restarts = 0;
  bool static_ranks = false;
  bool grow = true;
  nanoseconds join_timeout{};
  nanoseconds last_call_timeout{};
  nanoseconds reconnect_timeout{};
  nanoseconds ping_interval{};
  int ping_attempts = 3;
};

// A run that goes on.
struct RunRecord {
  Terms terms;
  std::string run_directory;
  int next_round = 0;
  int restarts = 0;  // spent
  std::optional<Cause> last_failure;
  std::optional<RecordedRound> round;  // the last one; none yet
  // The address, or network, that has begun it, for its share of the runs; none: it is not known.
  std::optional<std::string> begun_by = {};
};

// A run that is over: what its nodes were told, or are to be told when they come back.
struct EndRecord {
  std::string run;
  std::string run_directory;
  nanoseconds keep{};  // for so long somebody may come back
  std::optional<Abort> abort;
  std::optional<Closed> closed;  // exactly one of these two
};

using Record = std::variant<RunRecord, EndRecord>;

}  // namespace ddprun::protocol
