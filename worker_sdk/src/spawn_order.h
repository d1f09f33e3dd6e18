// What a spawned process is told and what it answers, as bytes. No LibTorch.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "ddp/spawn_value.h"
#include "worker_sdk/src/worker_environment.h"

namespace ddp::detail {

// What to call; read by the same program that wrote it.
struct SpawnOrder {
  std::string worker;
  std::vector<SpawnValue> arguments;
};
std::string encode(const SpawnOrder& order);
// Throws std::runtime_error on bytes that encode does not write.
SpawnOrder decode(const std::string& bytes);

// Where a spawned process finds its order, and the pipe for its answer: the value of DDP_SPAWN.
struct SpawnTicket {
  pid_t parent = 0;
  int rank = 0;
  int order_fd = -1;
  int answer_fd = -1;
};
inline constexpr const char* kSpawnVariable = "DDP_SPAWN";
std::string to_text(const SpawnTicket& ticket);
// Nothing if the variable is not set, or if it was meant for another process: a child of `parent`
// is meant.
std::optional<SpawnTicket> read_ticket(const Lookup& lookup, pid_t parent);

// The answer: kStarted when the worker is about to be called, then a SpawnReason if an exception
// has left it. kNotExecuted and an errno (the bytes of an int) from a process that came not that
// far.
inline constexpr char kStarted = 'S', kFailed = 'F', kNotExecuted = 'X';

struct SpawnReason {
  std::int64_t at = 0;  // nanoseconds of CLOCK_MONOTONIC: which of two came first
  std::string text;
};
std::string to_text(const SpawnReason& reason);
// Nothing unless the bytes begin with kFailed and a whole number.
std::optional<SpawnReason> read_reason(const std::string& bytes);

}  // namespace ddp::detail
