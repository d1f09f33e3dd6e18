// One round of the soak of several nodes, made of a seed: the job, what is done to it and when.
// No clock and no process here: the same seed is the same round.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace ddprun::nodes_soak {

using std::chrono::microseconds;

inline constexpr int kNodes = 4;
// A node that was silent for so long is lost: keep_alive_interval times keep_alive_max_attempt.
// Far longer than a busy machine lets anybody wait.
inline constexpr std::chrono::milliseconds kPing{1'000};
inline constexpr int kPings = 3;
inline constexpr std::chrono::milliseconds kJoinTimeout{8'000};
inline constexpr std::chrono::milliseconds kReconnectTimeout{6'000};

enum class FaultKind {
  worker_exits,      // one worker, with the code `number`
  worker_killed,     // by the signal `number`
  launcher_killed,   // SIGKILL
  guardian_killed,   // SIGKILL
  told_to_stop,      // the signal `number` to ddprun, as a scheduler does it
  launcher_stopped,  // SIGSTOP, and SIGCONT after `lasts`
  link_cut,          // the node's connection is reset, and refused for `lasts`
  link_frozen,       // nothing passes for `lasts`, and then all that was sent
  daemon_killed,     // and started again after `lasts`
  daemon_ended,      // by SIGTERM, the same
  daemon_stopped,    // SIGSTOP, and SIGCONT after `lasts`
  cancelled,         // by rdzvctl
  newcomer,          // one more ddprun: a spare, or the job grows
};

struct Fault {
  FaultKind kind = FaultKind::worker_exits;
  int node = 0;  // kNodes is the newcomer's
  int number = 0;
  microseconds after{0};  // since the nodes were started, or since the world is complete
  microseconds lasts{0};
  bool comes_back = false;  // another ddprun takes the node's place after `lasts`
};

struct Scenario {
  std::uint64_t seed = 0;
  bool by_arrival = false;  // c10d, else static
  int min_nodes = kNodes;   // below kNodes with by_arrival only
  int workers = 1;          // of each node
  int restarts = 0;
  int early = -1;              // the node whose workers end with 0 at once; -1: none
  bool while_joining = false;  // the faults come while the nodes are started
  std::vector<Fault> faults;
  microseconds released_after{0};  // the faults: the workers end with 0
};

Scenario scenario_of(std::uint64_t seed);

// On one line, for whoever has to understand a round that went wrong.
std::string describe(const Scenario& scenario);

bool is_of_daemon(const Fault& fault);
// The rendezvous is killed or stopped, so it must not be the one of the other rounds.
bool hurts_daemon(const Scenario& scenario);
// The node reaches the rendezvous through something that can be cut.
bool needs_relay(const Scenario& scenario, int node);
// Only one of the nodes, where it concerns a node at all.
bool concerns(const Fault& fault, int node);
// Longer than a silent node is borne.
bool is_long(const Fault& fault);

std::string node_name(int node);
// The words behind "ddprun" for a node that meets the others at 127.0.0.1:`port`.
std::vector<std::string> command_of(const Scenario& scenario, int node, std::uint16_t port,
                                    const std::string& worker);
std::string run_id(const Scenario& scenario);

}  // namespace ddprun::nodes_soak
