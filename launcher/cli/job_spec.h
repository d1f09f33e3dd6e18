// What the user asked for, after the command line and the PET_* variables were read and checked.
//
// Plain values: nothing here has looked at devices, files or other processes.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/cli/hosts_spec.h"
#include "launcher/cli/rank_map.h"
#include "launcher/cli/rendezvous_spec.h"

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

// --output: what a worker's stdout and stderr are. `automatic`: a pseudo-terminal where ddprun's
// own stream is a terminal, else a pipe.
enum class OutputMode { automatic, pty, pipe, inherit };

// --color. `automatic`: on a terminal, unless NO_COLOR says otherwise.
enum class ColorChoice { automatic, always, never };

// --bind: the CPUs that a worker may run on.
enum class BindMode { none, node, socket, exclusive, core_complex, cores };

// --threads: OMP_NUM_THREADS of a worker. `unset`: the share of the allowed CPUs, said once, and
// only where there is more than one worker.
struct ThreadCount {
  enum class Kind { unset, automatic, number };
  Kind kind = Kind::unset;
  int number = 0;  // at least 1 when kind is `number`
};

// --report and --events: a file as given (relative to the folder ddprun was started in), or `-` for
// stdout.
using OutputFile = std::string;

struct JobSpec {
  WorkerCount workers;
  DeviceChoice device = DeviceChoice::automatic;
  bool oversubscribe = false;
  std::optional<int> simulated_gpus;  // --simulate-gpus N, 0 or more
  bool standalone = false;
  RendezvousSpec rendezvous;
  HostsSpec hosts;
  // Of one node: the store's address as given, and its port, never 0 (0 means "choose", which is
  // the default). Several nodes have them in `rendezvous`.
  std::optional<std::string> master_addr;
  std::optional<std::uint16_t> master_port;
  std::optional<std::string> run_id;  // that of `rendezvous`; none: the launcher makes one
  std::string role = "default";
  std::chrono::milliseconds shutdown_timeout{30'000};
  std::vector<int> signals_to_handle{SIGTERM, SIGINT, SIGHUP, SIGQUIT};
  std::optional<std::chrono::milliseconds> timeout;     // from ddprun's start
  std::optional<std::chrono::milliseconds> exit_grace;  // after the first exit with 0; may be 0
  std::optional<std::chrono::milliseconds> progress_timeout;  // between two reports of progress
  bool keep_descendants = false;
  int max_restarts = 0;
  // The first pause before a restart when the group fails at once again and again; 0: never wait.
  std::chrono::milliseconds restart_backoff{1000};
  std::optional<std::string> chdir;

  bool virtual_local_rank = false;
  BindMode bind = BindMode::none;
  bool report_bindings = false;
  ThreadCount threads;

  // As given: a relative one is relative to the folder ddprun was started in, not to `chdir`.
  // "/dev/null": no files at all.
  std::optional<std::string> log_dir;
  StreamMap redirects;                   // to a file and not to the console
  StreamMap tee;                         // to a file and to the console
  std::optional<RankSet> console_ranks;  // --local-ranks-filter; none: all
  std::optional<std::string> prefix;     // template as given; "" is no prefix; none: the default
  // The template is TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE's, which asks for no prefix by itself.
  bool prefix_where_usual = false;
  std::vector<std::string> duplicate_stdout_filters;
  std::vector<std::string> duplicate_stderr_filters;
  OutputMode output = OutputMode::automatic;
  ColorChoice color = ColorChoice::automatic;
  bool line_buffer = false;
  std::optional<int> stdin_rank;  // none: every worker reads /dev/null
  std::vector<Wrap> wraps;        // the first one whose ranks match counts

  std::optional<OutputFile> report;
  std::optional<OutputFile> events;
  bool dry_run = false;
  bool doctor = false;  // `command` may be empty then
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
