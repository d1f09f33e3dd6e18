// What goes into the roster and what comes out of it. No I/O, no clock.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "rendezvous/protocol/roster_messages.h"

namespace ddprun::roster {

// Monotonic time; only differences mean anything.
using Time = std::chrono::steady_clock::time_point;
using protocol::Cause;
using protocol::Join;
using protocol::MemberId;
using std::chrono::nanoseconds;

// The same message, so the same bytes, to each of `to`.
struct Send {
  std::vector<MemberId> to;
  protocol::ServerMessage message;
  std::string reason;  // for the log
};

// Close these connections when what was sent to them has been written. Nothing more may be said
// about a member that is closed; its on_lost() is no error.
struct Close {
  std::vector<MemberId> members;
  std::string reason;
};

using Effect = std::variant<Send, Close>;

// What the next server has to find, should this one be lost: see protocol::Record.
struct Change {
  std::string key;                   // "runs/RUN", "ended/RUN_DIRECTORY"
  std::optional<std::string> value;  // none: it is forgotten
};

// Effects are carried out in their order, and when the changes were written: nobody may be told
// what the next server would not know.
struct Decision {
  std::vector<Effect> effects;
  std::vector<Change> changes;  // of a durable server only; each key once
  std::optional<Time> wake_at;  // call on_time then, or earlier; none: there is nothing to wait for
};

// Who serves, and how often it asks whether an agent is still there.
struct Server {
  std::string id;  // names this process, as nothing else does: Welcome::server
  std::string host;
  std::string version;
  bool embedded = false;  // in a ddprun, for one run; else rdzvd
  nanoseconds ping_interval = std::chrono::seconds(5);
  int ping_attempts = 3;
  // It has a token: the stores of its runs are for the nodes of the round alone.
  bool guarded = false;
  // Another server may take its place, and finds there what decisions have changed.
  bool durable = false;
};

// The connection that a message came from.
struct Peer {
  MemberId id = 0;      // chosen by the shell, never used again for another connection
  std::string address;  // for texts: "10.0.0.2:4711"
  // It may cancel runs and see the output of workers: it has shown the server's token or, where
  // there is none, is on the server's host.
  bool trusted = false;
  // Its address without the port, or its network: what has a share of the runs. Empty: no limit.
  std::string network = {};
};

struct Arrival {
  Peer from;
  Join join;
};

}  // namespace ddprun::roster
