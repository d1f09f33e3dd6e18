// What an engine that has placed this process (Slurm, Kubernetes, an MPI launcher) says about the
// nodes of the job.
//
// Pure: an engine is known by the environment variables that it sets. Each value remembers which
// variable it comes from, because a contradiction is only of use with both names.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rendezvous/base/result.h"

namespace ddprun::cluster {

// More nodes than any machine has; what is beyond is taken for a slip.
inline constexpr int kMostNodes = 1'000'000;

// `hosts`: ddprun itself, which was started on one host with the names of all.
enum class Engine { none, slurm, kubernetes, mpi, hosts };

// A value and what it was read from: "SLURM_NNODES", "--nnodes", "PET_NNODES"; empty for a default.
template <class T>
struct Sourced {
  T value{};
  std::string source = {};
};

// The value of an environment variable, or none. The view lives as long as what the function reads.
using Variables = std::function<std::optional<std::string_view>(std::string_view name)>;

// The nodes as the engine knows them; none is what it does not know.
struct Allocation {
  std::optional<Sourced<int>> nodes;      // at least 1
  std::optional<Sourced<int>> node_rank;  // below `nodes` where both are known
  // Where the nodes can meet. A guess follows a custom of the engine, and an address that the user
  // has set in the environment is better.
  std::optional<Sourced<std::string>> host;
  bool host_is_guess = false;
  std::optional<Sourced<std::uint16_t>> port;
  std::optional<Sourced<std::string>> run_id;  // the same on every node of this run, on no other's
  std::vector<std::string> hosts = {};         // by node rank; empty where they are not known
  std::optional<Sourced<int>> gpus;            // that this job may use on this node
  // Processes that the engine has started on this host; more than one is mostly a slip, because
  // ddprun starts the workers of a node.
  std::optional<Sourced<int>> processes_on_host;
  std::vector<std::string> notices = {};  // each one line, without the option's name
};

// Slurm: the step's own variables where srun has made a step, else the job's. An Error where the
// variables are not there, contradict each other, or where ddprun runs in a batch script of several
// nodes without srun.
Result<Allocation> read_slurm(const Variables& variables);

// Kubernetes: a pod of an indexed Job or of a JobSet, by JOB_COMPLETION_INDEX and the pod's name. A
// pod does not know how many there are, so `nodes` is none.
Result<Allocation> read_kubernetes(const Variables& variables);

// MPI launchers and those that speak their language: Open MPI, jsrun, Flux, Hydra and others that
// speak PMI, PMIx, pbsdsh. None of them says where the nodes can meet.
Result<Allocation> read_mpi(const Variables& variables);

// What the ddprun that the user has started on one host sets for those on the others.
inline constexpr std::string_view kHostsRank = "DDPRUN_HOSTS_RANK";
inline constexpr std::string_view kHostsSize = "DDPRUN_HOSTS_SIZE";
inline constexpr std::string_view kHostsName = "DDPRUN_HOSTS_NAME";        // of this host, as typed
inline constexpr std::string_view kHostsAddress = "DDPRUN_HOSTS_ADDRESS";  // where the nodes meet
inline constexpr std::string_view kHostsPort = "DDPRUN_HOSTS_PORT";   // 0: node 0 takes a free one
inline constexpr std::string_view kHostsChannel = "DDPRUN_HOSTS_FD";  // agent/upstream.h
Result<Allocation> read_hosts(const Variables& variables);

// Reads the variables of `engine`; nothing for `none`.
Result<Allocation> read(Engine engine, const Variables& variables);

// "slurm", as --cluster calls it.
std::string_view name_of(Engine engine);

// The port on which the nodes of a Slurm job meet when nobody gave one: several jobs may share a
// node, so it is made of the job's number and the step's. 12000 to 27999, below the ports that the
// kernel hands out; the 1,999 jobs that follow a job, and seven more steps of it, have other ones.
std::uint16_t port_of_job(std::uint64_t job, std::uint64_t step);

// One line for a user who may have overlooked that Slurm has started this process on several nodes;
// empty where it has not. Changes nothing.
std::string slurm_hint(const Variables& variables);

}  // namespace ddprun::cluster
