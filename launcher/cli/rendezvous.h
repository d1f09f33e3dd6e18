// What was said about the nodes, by options, by the engine and by the environment, put together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/cli/environment.h"
#include "launcher/cli/job_spec.h"
#include "launcher/cli/rdzv_conf.h"
#include "launcher/cli/values.h"

namespace ddprun::cli {

// The value of an option, and how the user gave it.
template <class T>
struct Said {
  T value{};
  std::string label;    // "--nnodes", "PET_NNODES"
  std::string written;  // "--nnodes 2", "PET_NNODES=2"
};

// The options of the rendezvous, each read and checked by itself. What they mean together is not
// known before all of them, and the engine, are.
struct RendezvousGiven {
  std::optional<Said<NodeRange>> nodes;
  std::optional<Said<int>> node_rank;
  std::optional<Said<bool>> by_arrival;  // --rdzv-backend: c10d is true, static is false
  std::optional<Said<Endpoint>> endpoint;
  std::vector<Endpoint> more_endpoints;  // behind it, in the same option
  std::optional<Said<std::string>> master_addr;
  std::optional<Said<std::uint16_t>> master_port;
  std::optional<Said<std::string>> run_id;
  std::optional<Said<std::string>> local_addr;
  std::optional<Said<std::string>> token_file;
  std::optional<Said<std::string>> tls_ca;
  std::optional<Said<std::string>> tls_cert;
  std::optional<Said<std::string>> tls_key;
  std::optional<Said<cluster::Engine>> engine;
  std::optional<Said<ReadConf>> conf;
};

// Sets JobSpec::rendezvous, and of one node also master_addr, master_port and run_id; adds what has
// to be said to its notices. Where the engine has given this node GPUs and CUDA_VISIBLE_DEVICES
// does not say which, their number becomes the number of workers that nobody gave. Called after all
// other options were applied.
//
// Pure: reads the variables of the engine, MASTER_ADDR, MASTER_PORT, NODE_RANK and
// CUDA_VISIBLE_DEVICES from `environment` only. Options count more than the engine, and the engine
// more than MASTER_ADDR and its like. An Error where values contradict each other (it shows both)
// or where one is missing that nobody else can know.
Result<void> settle_rendezvous(const RendezvousGiven& given, const Environment& environment,
                               JobSpec& job);

}  // namespace ddprun::cli
