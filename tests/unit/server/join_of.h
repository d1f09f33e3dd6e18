// What an agent that is none says first.
#pragma once

#include <chrono>
#include <string>

#include "rendezvous/protocol/roster_codec.h"

namespace ddprun::server {

// What node `node` of a run of `nodes` nodes says first.
inline protocol::Join join_of(const std::string& run, const std::string& node, int nodes) {
  return {.run = run,
          .node = node,
          .pid = 4242,
          .version = "0.1.0",
          .program = "crc32:1234",
          .addresses = {"127.0.0.1"},
          .store_port = 29'501,
          .nproc = 2,
          .min_nodes = nodes,
          .max_nodes = nodes,
          .join_timeout = std::chrono::seconds(60),
          .last_call_timeout = std::chrono::seconds(1),
          .reconnect_timeout = std::chrono::seconds(5)};
}

}  // namespace ddprun::server
