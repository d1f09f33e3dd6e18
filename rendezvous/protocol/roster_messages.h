// What a node's agent (or rdzvctl) and the server say to each other: the roster protocol, as plain
// values. docs/protocol.md tells the same for people, with an example.
//
// Every member is required on the wire but the std::optional ones, so a member that is added later
// must be optional. Durations are spans, never wall clocks, and travel as whole nanoseconds.
#pragma once

#include <boost/json/value.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ddprun::protocol {

using std::chrono::nanoseconds;

// The roster protocol of this program. Peers must have the same number; what never changes with it
// is the opening, the frames and Refused.
inline constexpr std::uint32_t kRosterProtocol = 1;

// So many workers one node may have in a job on several.
inline constexpr int kMaxWorkers = 4096;

// Names one connection to one server, never used again by that server. A node that connects anew
// is another member.
using MemberId = std::uint64_t;

// One worker's bad end, or whatever else ended a round.
struct Cause {
  enum class Kind {
    worker_failed,  // rank, local_rank, node, lines and either code or signal are set
    node_lost,      // node is set: its connection was reset, or it fell silent
    node_left,      // node is set: its agent said goodbye
    node_joined,    // node is set: the world grows
    cancelled,      // by rdzvctl
    timed_out,      // nodes were still missing when the join timeout had passed
    misused,        // an agent broke the protocol; node is set
  };
  Kind kind = Kind::worker_failed;
  std::string text;  // one sentence for people that says all of it but the lines
  std::optional<std::string> node;
  std::optional<int> rank;  // global
  std::optional<int> local_rank;
  std::optional<int> code;
  std::optional<int> signal;
  std::vector<std::string> lines;  // the end of the worker's output, oldest first
  // As in Failed; optional on the wire.
  std::optional<std::string> how = {};
  std::vector<int> absent = {};
  std::vector<int> silent_too = {};
};

// One node of a round; its place in Assignment::nodes is its node rank.
struct AssignedNode {
  MemberId member = 0;
  std::string node;
  int nproc = 1;
};

// Server -> agent: the round begins. The same bytes go to all members of the round; place_of() says
// where a member stands in it.
struct Assignment {
  int round = 0;                    // 0, 1, …: one more with every assignment of the run
  int restarts = 0;                 // spent by failed workers so far: TORCHELASTIC_RESTART_COUNT
  int max_restarts = 0;             // TORCHELASTIC_MAX_RESTARTS
  int world_size = 0;               // ranks of all nodes
  std::vector<AssignedNode> nodes;  // by node rank
  std::string store_host;           // MASTER_ADDR: an address of node rank 0, a literal
  std::uint16_t store_port = 0;     // MASTER_PORT: what node rank 0 announced for this round
  std::string why;                  // why the round closed now, for -v
  // What node rank 0 announced with the port: its store is reached by TLS with this key.
  std::optional<std::string> store_key = {};
};

// Where one member stands in a round.
struct NodePlace {
  int node_rank = 0;   // GROUP_RANK
  int first_rank = 0;  // global rank of its local rank 0
  int nproc = 1;
  int nodes = 1;  // GROUP_WORLD_SIZE
  int world_size = 1;
};

// Nothing if `member` is none of the round's nodes.
std::optional<NodePlace> place_of(const Assignment& assignment, MemberId member);

// ---------------------------------------------------------------------------------------------
// Agent -> server

// The run that an agent was a node of before: it comes back, and is no node that was started anew.
struct Former {
  std::string server;         // Welcome::server of the last one that took it
  std::string run_directory;  // Welcome::run_directory: names the run as a run id does not
  // Of the last round that the agent has heard of, which may be over; none before the first. So a
  // server that is new neither numbers rounds nor counts restarts from the beginning.
  std::optional<int> round = {};
  std::optional<int> restarts = {};
};

// What an agent had when it lost a daemon: it kept its workers running, and shows this to the one
// that it finds again.
struct Held {
  std::string server;  // Welcome::server of the one that gave the assignment
  MemberId member = 0;
  bool finished = false;  // all its workers have ended with 0
  Assignment assignment;
};

// First on a connection. An agent that was stopping its workers when it lost the server joins when
// they have ended, without `held`.
struct Join {
  std::string run;   // run id, 1 to 256 bytes
  std::string node;  // node name, 1 to 128 bytes
  int pid = 0;
  std::string version;                   // of ddprun
  std::string program;                   // checksum of the program, any text
  std::optional<std::string> arguments;  // checksum of its arguments; none: not known
  // Where the node can be reached, literals; the local address of this connection comes first.
  std::vector<std::string> addresses;
  std::optional<std::string> local_addr;  // --local-addr: advertised whatever the others are
  std::uint16_t store_port = 0;           // where this node would host the store of the next round
  int nproc = 1;
  std::optional<int> node_rank;  // wanted
  int min_nodes = 1;
  int max_nodes = 1;
  int max_restarts = 0;
  bool static_ranks = false;  // node ranks and the number of nodes are given, not by arrival
  bool grow = true;           // a newcomer starts a new round of a run below max_nodes
  bool hosts_server = false;  // this ddprun is where the embedded server runs
  nanoseconds join_timeout{};
  nanoseconds last_call_timeout{};
  nanoseconds reconnect_timeout{};
  std::optional<nanoseconds> keep_alive_interval;
  std::optional<int> keep_alive_max_attempt;
  std::optional<Held> held;
  std::optional<Former> former = {};  // none: it was a member of nothing yet
  // Of the store, where it is reached by TLS: 64 random hexadecimal digits. Sent by TLS only.
  std::optional<std::string> store_key = {};
};

// All workers of the round were started.
struct Started {
  struct Worker {
    int pid = 0;
    std::string device;  // for people: "GPU 3", "CPU"
  };
  int round = 0;
  std::vector<Worker> workers;  // by local rank
};

// A worker has ended badly by itself. Only the first of the node in that round; `age` corrects the
// order in which the failures of several nodes arrive.
struct Failed {
  int round = 0;
  int rank = 0;  // global
  int local_rank = 0;
  std::optional<int> code;  // exactly one of these two
  std::optional<int> signal;
  nanoseconds age{};  // from the worker's end until this is sent
  std::vector<std::string> lines;
  // The job ends with it, whatever restarts are left: its program cannot be executed.
  std::optional<int> exit_code = {};
  // What only its node can tell, for the others' reports; optional on the wire.
  std::optional<std::string> how = {};  // "no progress for 5 s (--progress-timeout)"
  std::vector<int> absent = {};         // global ranks that it had waited for in vain
  std::vector<int> silent_too = {};     // global ranks that made no progress either
};

// After Stop or Restart: no worker of this node is left.
struct Drained {
  int round = 0;
  std::uint16_t store_port = 0;  // of the fresh, empty store for the next round
};

// All workers of this node have ended with 0. The agent stays until it is told Closed.
struct Finished {
  int round = 0;
};

// Goodbye; the agent closes its connection behind it.
struct Leave {
  std::string why;  // "stopped by SIGTERM"
  // The job ends with it, whoever is left: its time limit has passed.
  std::optional<int> exit_code = {};
};

// At once, whatever else the agent does.
struct Pong {
  std::uint64_t id = 0;  // of the Ping
};

struct StacksDone {
  std::uint64_t id = 0;               // of the TakeStacks
  std::optional<std::string> path;    // of the files, on this node: "/logs/rank_{4..7}.txt"
  std::optional<std::string> failed;  // why there are none; neither: no worker runs here
};

// First on a connection of rdzvctl, which sends one of these and reads one answer.
struct AskStatus {
  std::optional<std::string> run;  // none: all
};
struct AskCancel {
  std::string run;
  std::string by;  // who asks, for the texts: "rdzvctl on HOST by USER"
};
struct AskStacks {
  std::string run;
};

// Both ways, first on a connection of a side that has a token; rendezvous/guard/handshake.h says
// how.
struct Challenge {
  std::string number;  // random, hexadecimal
};
struct Answer {
  std::string proof;  // hexadecimal
};

using AgentMessage = std::variant<Join, Started, Failed, Drained, Finished, Leave, Pong, StacksDone,
                                  AskStatus, AskCancel, AskStacks, Challenge, Answer>;

// ---------------------------------------------------------------------------------------------
// Server -> agent

// The answer to Join: the agent is a member. Again, before the first round, when the run that it
// belongs to turns out to be another one.
struct Welcome {
  MemberId member = 0;
  std::string server;  // names this server's process; another one after a restart
  bool embedded = false;
  std::string server_host;  // node name of the server's host
  std::string server_version;
  nanoseconds ping_interval{};  // silence for interval x attempts: the other side is gone
  int ping_attempts = 3;
  // The last part of the run directory's name, the same on all nodes; no other run has it.
  std::string run_directory;
};

// While a round is not complete, or as a spare: when something changes (at most once a second in
// worlds of more than 16 nodes), and every 10 s. Print `text`.
struct Waiting {
  std::string text;  // one line: who is here, who is missing, how long, how long more
  bool spare = false;
  int here = 0;                     // nodes
  int needed = 0;                   // min_nodes
  std::vector<std::string> nodes;   // who is here, the first 16
  std::vector<int> missing_ranks;   // node ranks nobody has, the first 16; static only
  nanoseconds waited{};             // since the first node waits
  std::optional<nanoseconds> left;  // until the run gives up, or until the last call ends
};

// A worker has failed: stop the workers, say Drained. Restart or Abort follows within 200 ms and
// says the final cause; `why` is what is known now.
struct Stop {
  int round = 0;
  std::string why;
};

// A new round follows: stop the workers if they run, say Drained, wait for Assignment.
struct Restart {
  int round = 0;  // the one that ends
  Cause cause;
  int restarts = 0;  // spent, with this one if it spends one
  int max_restarts = 0;
  std::string why;  // one line: the cause and what follows
};

// The job has failed: stop the workers, report `cause`, end with `exit_code`. The server closes.
struct Abort {
  std::optional<int> round;  // none: no round had begun
  Cause cause;
  int exit_code = 125;
  std::string why;  // one line
};

// The job has ended well. The server closes the connection; the agent ends with 0.
struct Closed {
  std::string why;
};

// Not a member, or not any more: `why` says what is wrong and names both sides. The server closes.
struct Refused {
  std::string why;
};

struct Ping {
  std::uint64_t id = 0;
};

// Write the stacks of all workers to a file and say StacksDone.
struct TakeStacks {
  std::uint64_t id = 0;
};

// Something the user should know once, for example that the nodes' programs differ. Print `text`.
struct Notice {
  std::string text;
};

// The server ends, the job does not: as if the connection had been lost, with the reason in words.
struct ServerStopping {
  std::string why;
};

// Answers to rdzvctl; a question that cannot be answered gets Refused.
struct StatusAnswer {
  boost::json::value runs;  // an array, as GET /api/v1/runs gives it
};
struct CancelAnswer {
  std::string text;
};
struct StacksAnswer {
  struct Node {
    std::string node;
    std::optional<std::string> path;
    std::optional<std::string> failed;
  };
  std::vector<Node> nodes;
};

// To node rank 0, before its Assignment, where the server has a token: from these addresses the
// workers of the round come to its store, and nobody else is let in.
struct StoreClients {
  int round = 0;
  std::vector<std::string> addresses;  // literals
};

// The answer to the first message where another rdzvd is the head of several, or none is yet. The
// server closes.
struct Elsewhere {
  std::optional<std::string> endpoint;  // HOST:PORT of the head; none: come again
  std::string why;
};

using ServerMessage =
    std::variant<Welcome, Waiting, Assignment, Stop, Restart, Abort, Closed, Refused, Ping,
                 TakeStacks, Notice, ServerStopping, StatusAnswer, CancelAnswer, StacksAnswer,
                 Challenge, Answer, StoreClients, Elsewhere>;

// How the wire and a log line call it: "join", "assignment", …
std::string_view type_name(const AgentMessage& message);
std::string_view type_name(const ServerMessage& message);

}  // namespace ddprun::protocol
