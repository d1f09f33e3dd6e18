// What the groups of the benchmark start, and how they start it.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/observed_process.h"

namespace ddprun::bench {

using Words = std::vector<std::string>;

struct Setup {
  std::string ddprun;
  Words ddprun_options;  // put before all others
  std::string rdzvd;     // empty: none
  std::string floor;     // the programs of this folder
  std::string duties;    // a floor with ddprun's duties
  std::string worker;
  std::string agents;
  std::string store_clients;
  std::string store_load;
  std::string epoll_store;  // a floor
  std::string redis_store;
  std::string redis;  // the server's program; empty: none
  std::string names;
  std::string libuv_store;        // a script
  std::string train_worker;       // empty: this build has no worker SDK
  std::string train_script;       // the same in Python
  std::string python;             // one that has torch; empty: no torchrun
  std::string other_python;       // with another version of torch; empty: none
  std::string baseline;           // another build of ddprun; empty: none
  int most_workers = 512;         // larger groups are left out
  int most_clients = 10'000;      // of a store, and agents
  int most_models = 3;            // that are trained, the smallest first
  int store_operations = 20'000;  // of each kind
  int lines = 1'000'000;          // of the output group

  // The same with `baseline` in the place of ddprun.
  Setup with_baseline() const;
};

Words operator+(Words left, const Words& right);

// ddprun -n WORKERS, ready for options or a program.
Words ddprun_words(const Setup& setup, int workers);
// torchrun --nproc-per-node WORKERS OPTIONS… for a program that is no Python script.
Words torchrun_words(const Setup& setup, int workers, const Words& options = {});

// The version of a Python's torch, "2.11.0+cu130" without what is behind the plus.
std::string torch_version(const std::string& python);

// Why rows of torchrun are missing; empty when they are not.
std::string no_torchrun(const Setup& setup);
// The same for other rows that need PyTorch for Python.
std::string no_torch(const Setup& setup);
// Why no program can be run with another name service ("none", "silent", a number of milliseconds);
// empty when one can.
std::string no_names(const Setup& setup, const std::string& how);
// Why rows of rdzvd are missing; empty when they are not.
std::string no_rdzvd(const Setup& setup);
// Why rows of the worker SDK are missing; empty when they are not.
std::string no_worker_sdk(const Setup& setup);
// Why rows that need `option`, a name and its value and perhaps more, are missing: ddprun refuses
// it. Empty when ddprun runs a program with it.
std::string refused(const Setup& setup, const Words& option);

// Throws std::runtime_error, which names the command, unless `code` is the expected one.
void expect_code(int code, int expected, const Words& command);

// The first line that a program prints, which may be empty. Throws unless it ended with 0.
std::string first_line_of(const Words& command);

// Milliseconds from before the start of a program until it was seen to end. Throws unless it ended
// with 0.
double time_of(const Words& command, const std::string& output = "/dev/null");

// Milliseconds from before the start of a program until the last of the bench workers that it
// starts runs. They must end by themselves.
double time_to_last_start(const Words& command, int workers);

}  // namespace ddprun::bench
