// The groups of the benchmark: each function returns the blocks of one.
#pragma once

#include <vector>

#include "tests/bench/measurement.h"
#include "tests/bench/setup.h"

namespace ddprun::bench {

// Start and end of groups of workers, against two floors, Hydra, Open MPI, Slurm and torchrun.
std::vector<Block> launch_group(const Setup& setup);
// From the death of a worker to the end of ddprun.
std::vector<Block> fail_group(const Setup& setup);
// From the death of a worker to the last worker of the next attempt.
std::vector<Block> restart_group(const Setup& setup);
// Nodes of one job that meet, against torchrun's c10d; a thousand simulated agents.
std::vector<Block> rendezvous_group(const Setup& setup);
// Thousands of clients that join through one store, and single operations, against PyTorch's libuv
// server, Redis and a raw epoll.
std::vector<Block> store_group(const Setup& setup);
// A million lines to the console and into a log file, against cat and torchrun; delay of a line.
std::vector<Block> output_group(const Setup& setup);
// Wake-ups and memory while all workers, or all agents of an rdzvd, are silent.
std::vector<Block> idle_group(const Setup& setup);
// Two ranks that train with the worker SDK, against Python's DistributedDataParallel.
std::vector<Block> train_group(const Setup& setup);
// Against another build of ddprun; no blocks when there is none.
std::vector<Block> baseline_group(const Setup& setup);

}  // namespace ddprun::bench
