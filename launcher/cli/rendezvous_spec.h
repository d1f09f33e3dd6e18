// How the nodes of a job meet, after the command line and the environment were read and checked.
//
// Plain values: nobody has asked a name server or another node yet.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/cluster/allocation.h"

namespace ddprun::cli {

using cluster::Sourced;

// --rdzv-conf. Times are positive but for last_call_timeout and reconnect_timeout, which may be 0.
struct RendezvousConf {
  std::chrono::milliseconds join_timeout{600'000};  // also written as `timeout`
  std::chrono::milliseconds last_call_timeout{30'000};
  std::chrono::milliseconds read_timeout{60'000};
  std::chrono::milliseconds keep_alive_interval{5'000};
  int keep_alive_max_attempt = 3;
  std::chrono::milliseconds reconnect_timeout{5'000};
  bool grow = true;             // a newcomer begins a new, larger round
  std::optional<bool> is_host;  // whether this node hosts the server; none: find out
};

// Where the nodes meet. `host` is a name or an address literal, IPv6 without its brackets.
struct MeetingPoint {
  std::string host;
  std::uint16_t port = 0;
};

// Where a run id comes from. `none`: nobody gave one; the value is then "none", torchrun's word for
// it. `random`: the value is empty, whoever starts the job makes one.
enum class RunIdOrigin { none, option, scheduler, random };

struct RendezvousSpec {
  // `alone`: one node, which meets nobody. `fixed` is torchrun's static: the number of nodes and
  // this node's rank are given, and node 0 hosts the server. `by_arrival` is torchrun's c10d:
  // min_nodes to max_nodes join as they come.
  enum class Kind { alone, fixed, by_arrival };

  Kind kind = Kind::alone;
  int min_nodes = 1;  // 1 <= min_nodes <= max_nodes; equal unless by_arrival
  int max_nodes = 1;
  std::string nodes_source;  // "--nnodes", "PET_NNODES", "SLURM_STEP_NUM_NODES"; "" by default

  // Alone and fixed: always there, and below max_nodes. By arrival: a wish, if there is one; two
  // nodes may have the same, because torchrun ignores it there.
  std::optional<Sourced<int>> node_rank;

  Sourced<MeetingPoint> endpoint;  // empty with `alone`; else host and port are both set
  // Where else the server may be: several rdzvds are one, and none of the nodes hosts it.
  std::vector<MeetingPoint> more_endpoints;
  Sourced<std::string> run_id;
  RunIdOrigin run_id_origin = RunIdOrigin::random;

  RendezvousConf conf;
  std::optional<Sourced<std::string>> local_addr;  // what this node tells the others; a host
  std::optional<Sourced<std::string>> token_file;
  std::optional<Sourced<std::string>> tls_ca;
  std::optional<Sourced<std::string>> tls_cert;
  std::optional<Sourced<std::string>> tls_key;
  bool token_variable = false;  // RDZV_TOKEN was set, and counts without a file

  cluster::Engine engine = cluster::Engine::none;  // --cluster
  std::optional<Sourced<int>> gpus;                // of this node, that the engine has given us
  std::optional<Sourced<int>> processes_on_host;   // ddpruns that the engine has started here
  std::vector<std::string> hosts;                  // by node rank, where the engine knows them

  bool several_nodes() const { return kind != Kind::alone; }
  // srun, mpirun and ddprun --hosts show in one place what all nodes write, and this is not the
  // first of them: it leaves to that one what all would say alike.
  bool first_node_speaks() const {
    return several_nodes() &&
           (engine == cluster::Engine::slurm || engine == cluster::Engine::mpi ||
            engine == cluster::Engine::hosts) &&
           node_rank && node_rank->value != 0;
  }
};

// "node0:29500", "[::1]:29500".
std::string text_of(const MeetingPoint& point);
// All of them: "rdzv1:29400,rdzv2:29400".
std::string endpoints_text(const RendezvousSpec& spec);

// The host as it stands before a port: an IPv6 address in brackets.
std::string in_brackets(const std::string& host);

// "static", "c10d", "alone".
std::string_view name_of(RendezvousSpec::Kind kind);

}  // namespace ddprun::cli
