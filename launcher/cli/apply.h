// What each option does to the JobSpec: the functions that the option table points to.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "launcher/cli/job_spec.h"
#include "launcher/cli/rendezvous.h"
#include "launcher/cli/values.h"

namespace ddprun::cli {

// The JobSpec while it is being made, and what is only needed until it is finished.
struct Settings {
  JobSpec job;
  RendezvousGiven rendezvous;
  std::string label;           // of the value being read, for notices: "--role" or "PET_ROLE"
  std::string written;         // with the value: "--role x" or "PET_ROLE=x"
  bool optional_text = false;  // the value comes from a variable that other programs read as well
};

// What a value meant.
struct Reading {
  enum class Kind {
    taken,
    wrong,  // `text` says why, without the option's name
  };
  Kind kind = Kind::taken;
  std::string text = {};
};

// Reads `value` into `settings`. A flag has the value 1 on the command line, and what its variable
// says otherwise. Called in the order of the table, at most once for an option that is not
// repeatable.
using Apply = Reading (*)(const std::string& value, Settings& settings);

namespace apply {

inline Reading taken() {
  return {};
}
inline Reading wrong(std::string text) {
  return {Reading::Kind::wrong, std::move(text)};
}

// Puts what was read where it belongs.
template <class T, class Target>
Reading store(const Result<T>& value, Target& target) {
  if (!value) return wrong(value.error().text);
  target = *value;
  return taken();
}

// A flag that is one member of the JobSpec.
template <bool JobSpec::*kMember>
Reading flag(const std::string& value, Settings& settings) {
  return store(read_boolean(value), settings.job.*kMember);
}

// A text that is taken as it is.
template <std::optional<std::string> JobSpec::*kMember>
Reading text(const std::string& value, Settings& settings) {
  settings.job.*kMember = value;
  return taken();
}

// A limit in seconds that is as long as a job at most; 0 is a limit as well.
template <std::optional<std::chrono::milliseconds> JobSpec::*kMember>
Reading seconds(const std::string& value, Settings& settings) {
  return store(read_seconds(value, kLongestJob), settings.job.*kMember);
}

// The same, where 0 is no limit.
template <std::optional<std::chrono::milliseconds> JobSpec::*kMember>
Reading seconds_or_none(const std::string& value, Settings& settings) {
  const Reading reading = seconds<kMember>(value, settings);
  auto& limit = settings.job.*kMember;
  if (limit && limit->count() == 0) limit.reset();
  return reading;
}

// Job.
Reading nproc_per_node(const std::string& value, Settings& settings);
Reading role(const std::string& value, Settings& settings);
Reading max_restarts(const std::string& value, Settings& settings);

// Nodes and how they meet.
Reading nnodes(const std::string& value, Settings& settings);
Reading node_rank(const std::string& value, Settings& settings);
Reading rdzv_id(const std::string& value, Settings& settings);
Reading rdzv_backend(const std::string& value, Settings& settings);
Reading rdzv_endpoint(const std::string& value, Settings& settings);
Reading rdzv_conf(const std::string& value, Settings& settings);
Reading master_addr(const std::string& value, Settings& settings);
Reading master_port(const std::string& value, Settings& settings);
Reading local_addr(const std::string& value, Settings& settings);
Reading cluster(const std::string& value, Settings& settings);
Reading token_file(const std::string& value, Settings& settings);
Reading tls_ca(const std::string& value, Settings& settings);
Reading tls_cert(const std::string& value, Settings& settings);
Reading tls_key(const std::string& value, Settings& settings);

// Hosts on which ddprun starts itself.
Reading hosts(const std::string& value, Settings& settings);
Reading hostfile(const std::string& value, Settings& settings);
Reading rsh(const std::string& value, Settings& settings);
Reading remote_ddprun(const std::string& value, Settings& settings);
Reading exported(const std::string& value, Settings& settings);

// Devices.
Reading device(const std::string& value, Settings& settings);
Reading simulate_gpus(const std::string& value, Settings& settings);
Reading bind(const std::string& value, Settings& settings);
Reading threads(const std::string& value, Settings& settings);

// Stopping.
Reading shutdown_timeout(const std::string& value, Settings& settings);
Reading signals_to_handle(const std::string& value, Settings& settings);
Reading restart_backoff(const std::string& value, Settings& settings);

// Output.
Reading quiet(const std::string& value, Settings& settings);
Reading verbose(const std::string& value, Settings& settings);
Reading redirects(const std::string& value, Settings& settings);
Reading tee(const std::string& value, Settings& settings);
Reading local_ranks_filter(const std::string& value, Settings& settings);
Reading prefix(const std::string& value, Settings& settings);
Reading duplicate_stdout_filters(const std::string& value, Settings& settings);
Reading duplicate_stderr_filters(const std::string& value, Settings& settings);
Reading output(const std::string& value, Settings& settings);
Reading color(const std::string& value, Settings& settings);
Reading stdin_rank(const std::string& value, Settings& settings);
Reading wrap(const std::string& value, Settings& settings);

// Options of old command lines; all but the first change nothing.
Reading pass_local_rank(const std::string& value, Settings& settings);
Reading monitor_interval(const std::string& value, Settings& settings);
Reading start_method(const std::string& value, Settings& settings);
Reading event_log_handler(const std::string& value, Settings& settings);
Reading use_env(const std::string& value, Settings& settings);

// Options that ddprun will not have.
Reading logs_specs(const std::string& value, Settings& settings);
Reading token(const std::string& value, Settings& settings);

}  // namespace apply
}  // namespace ddprun::cli
