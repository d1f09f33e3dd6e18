// What the user asked for, after the command line and the PET_* variables were read and checked.
//
// Plain values: nothing here has looked at devices, files or other processes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddprun::cli {

// --nproc-per-node. `unset` means one worker for each visible GPU, or 1 where there is none.
struct WorkerCount {
  enum class Kind { unset, number, automatic, gpu, cpu };
  Kind kind = Kind::unset;
  int number = 0;  // at least 1 when kind is `number`
};

// --device. `automatic`: GPUs where there are some, else the CPU.
enum class DeviceChoice { automatic, cuda, cpu };

// --pass-local-rank: which argument, if any, is put before the program's own ones.
enum class LocalRankArgument { none, dash, underscore };  // --local-rank=N, --local_rank=N

enum class Verbosity { quiet, normal, verbose };

struct JobSpec {
  WorkerCount workers;
  DeviceChoice device = DeviceChoice::automatic;
  bool oversubscribe = false;
  std::optional<int> simulated_gpus;  // --simulate-gpus N, 0 or more
  bool standalone = false;
  std::optional<std::string> master_addr;    // as given
  std::optional<std::uint16_t> master_port;  // never 0: 0 means "choose", which is the default
  std::optional<std::string> run_id;         // --rdzv-id, any text; none: the launcher makes one
  std::string role = "default";
  std::chrono::milliseconds shutdown_timeout{30'000};
  bool dry_run = false;
  LocalRankArgument local_rank_argument = LocalRankArgument::none;
  bool module = false;     // -m: PROGRAM is a Python module
  bool no_python = false;  // PROGRAM is executed directly even if it ends in .py
  bool run_path = false;   // PROGRAM is a Python script whatever its name; beats no_python
  Verbosity verbosity = Verbosity::normal;

  // PROGRAM and its arguments, byte for byte.
  std::vector<std::string> command;
  // A `--` stood before PROGRAM, so one behind a script or module belongs to it and is kept.
  bool separator_before_program = false;

  // One-line remarks for the user, for example an option that another one makes meaningless.
  std::vector<std::string> notices;
};

}  // namespace ddprun::cli
