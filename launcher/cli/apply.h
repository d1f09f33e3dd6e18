// What each option does to the JobSpec: the functions that the option table points to.
#pragma once

#include <string>
#include <vector>

#include "launcher/cli/job_spec.h"

namespace ddprun::cli {

// The JobSpec while it is being made, and what is only needed until it is finished.
struct Settings {
  JobSpec job;
  std::string label;  // of the value being read, for notices: "--role" or "PET_ROLE"
};

// What a value meant.
struct Reading {
  enum class Kind {
    taken,
    wrong,    // `text` says why, without the option's name
    not_yet,  // the value is right, but for a later version of ddprun
  };
  Kind kind = Kind::taken;
  std::string text = {};
};

// Reads `value` into `settings`. A flag has the value 1 on the command line, and what its variable
// says otherwise. Called at most once for an option, in the order of the table.
using Apply = Reading (*)(const std::string& value, Settings& settings);

namespace apply {

// Options that work.
Reading nproc_per_node(const std::string& value, Settings& settings);
Reading role(const std::string& value, Settings& settings);
Reading standalone(const std::string& value, Settings& settings);
Reading module(const std::string& value, Settings& settings);
Reading no_python(const std::string& value, Settings& settings);
Reading run_path(const std::string& value, Settings& settings);
Reading rdzv_endpoint(const std::string& value, Settings& settings);
Reading rdzv_id(const std::string& value, Settings& settings);
Reading master_addr(const std::string& value, Settings& settings);
Reading master_port(const std::string& value, Settings& settings);
Reading device(const std::string& value, Settings& settings);
Reading oversubscribe(const std::string& value, Settings& settings);
Reading simulate_gpus(const std::string& value, Settings& settings);
Reading shutdown_timeout(const std::string& value, Settings& settings);
Reading quiet(const std::string& value, Settings& settings);
Reading verbose(const std::string& value, Settings& settings);
Reading dry_run(const std::string& value, Settings& settings);
Reading pass_local_rank(const std::string& value, Settings& settings);

// Options of old command lines that change nothing.
Reading monitor_interval(const std::string& value, Settings& settings);
Reading start_method(const std::string& value, Settings& settings);
Reading event_log_handler(const std::string& value, Settings& settings);
Reading flag(const std::string& value, Settings& settings);

// Options of later versions, with the values that ask for what is built anyway.
Reading nnodes(const std::string& value, Settings& settings);
Reading zero(const std::string& value, Settings& settings);
Reading streams(const std::string& value, Settings& settings);
Reading rdzv_backend(const std::string& value, Settings& settings);
Reading only_none(const std::string& value, Settings& settings);
Reading only_auto(const std::string& value, Settings& settings);
Reading signals_to_handle(const std::string& value, Settings& settings);
Reading unset_flag(const std::string& value, Settings& settings);

// Options that ddprun will not have.
Reading logs_specs(const std::string& value, Settings& settings);

}  // namespace apply
}  // namespace ddprun::cli
