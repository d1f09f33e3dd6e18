// Starts the processes of spawn, watches them and, after the first failure, stops the others. No
// LibTorch.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ddp::detail {

struct SpawnRequest {
  int nprocs = 1;
  std::string order;  // what each process reads: encode(SpawnOrder)
  // "NAME=value" each, for the process of this rank.
  std::function<std::vector<std::string>(int rank)> environment;
  std::chrono::milliseconds grace{};
};

struct SpawnFailure {
  int rank = 0;
  std::string how;  // "failed: std::runtime_error: text", "was ended by signal 9 (SIGKILL)" …
};

// Returns when no process is left: the failure that came first, nothing if all ended well. Throws
// std::system_error if the system has no room for them; then, too, none is left.
std::optional<SpawnFailure> run_processes(const SpawnRequest& request);

}  // namespace ddp::detail
