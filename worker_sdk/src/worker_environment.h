// What a worker's environment says, read without LibTorch and without the process's own
// environment.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "worker_sdk/src/init_method.h"

namespace ddp::detail {

// Gives the value of a variable, or nothing if it is not set. Tests pass a map.
using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

// The environment of this process.
Lookup process_environment();

// How this rank finds the others.
struct WorkerEnvironment {
  int rank = 0;
  int world_size = 1;
  std::string master_addr;
  std::uint16_t master_port = 0;
  bool agent_store = false;  // the launcher hosts the store: nobody else may
  bool from_url = false;     // the address is not MASTER_ADDR and MASTER_PORT
  std::string store_file;    // instead of an address; empty where there is one
};

// Reads RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and TORCHELASTIC_USE_AGENT_STORE; a `rank` or
// `world_size` that is not negative replaces the variable, and so does what `method` names. Throws
// ddp::Error with everything that is missing or contradictory at once, and how to start the
// program.
WorkerEnvironment read_worker_environment(const Lookup& lookup, int rank, int world_size,
                                          const InitMethod& method = {});

// The number in a variable, or `fallback` if it is not set or empty. Throws ddp::Error on other
// text.
int integer_variable(const Lookup& lookup, const std::string& name, int fallback);

// RANK if it is there and a number, else -1: for the text of errors.
int rank_if_known(const Lookup& lookup);

}  // namespace ddp::detail
