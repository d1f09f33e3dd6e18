#include "launcher/cli/contradictions.h"

#include <algorithm>

namespace ddprun::cli {
namespace {

// "--tee 3" or "PET_TEE=3": how the user wrote it.
std::string written(const std::vector<Setting>& settings, std::string_view name) {
  const auto found =
      std::ranges::find(settings, name, [](const Setting& s) { return s.option->name; });
  if (found == settings.end()) return "--" + std::string(name);
  return written(*found);
}

bool typed_or_pet(const std::vector<Setting>& settings, std::string_view name) {
  return std::ranges::any_of(settings, [&](const Setting& s) {
    return s.option->name == name && s.label != s.option->second_variable;
  });
}

// Static meeting has no rule for how long a range is waited for.
bool is_static_range(const JobSpec& job) {
  return job.rendezvous.kind == RendezvousSpec::Kind::fixed &&
         job.rendezvous.min_nodes < job.rendezvous.max_nodes;
}

std::string shown(const Sourced<int>& number) {
  return number.source + "=" + std::to_string(number.value);
}

// The engine has given this job fewer GPUs than workers; whatever else the node has is not ours.
bool more_than_given(const JobSpec& job) {
  const auto& gpus = job.rendezvous.gpus;
  return gpus && gpus->value > 0 && job.workers.kind == WorkerCount::Kind::number &&
         job.workers.number > gpus->value && !job.oversubscribe && !job.simulated_gpus &&
         job.device != DeviceChoice::cpu;
}

// Several ddpruns on one host, each of which would start a worker for each GPU.
bool shares_a_host(const JobSpec& job) {
  const auto& processes = job.rendezvous.processes_on_host;
  return processes && processes->value > 1 && job.workers.kind != WorkerCount::Kind::number;
}

// What ddprun can do to lines only where they come through it.
std::string_view touches_lines(const JobSpec& job, const std::vector<Setting>& settings) {
  if (job.tee.any()) return "tee";
  if (job.console_ranks) return "local-ranks-filter";
  if (job.prefix && !job.prefix->empty() && typed_or_pet(settings, "log-line-prefix-template"))
    return "log-line-prefix-template";
  if (!job.duplicate_stdout_filters.empty()) return "duplicate-stdout-filters";
  if (!job.duplicate_stderr_filters.empty()) return "duplicate-stderr-filters";
  return {};
}

// A variable may be set once for all jobs.
std::string idle_without_hosts(const JobSpec& job, const std::vector<Setting>& settings) {
  if (!job.hosts.exports.empty())
    return "-x " + job.hosts.exports.front() +
           ": it is for the hosts of --hosts; on this one workers get all variables of ddprun, so "
           "write NAME=VALUE in front of ddprun";
  for (const Setting& setting : settings)
    if (!setting.from_variable &&
        (setting.option->name == "rsh" || setting.option->name == "remote-ddprun"))
      return written(setting) + ": it is for the hosts of --hosts, write --hosts LIST as well";
  return {};
}

// With --hosts each node is what its place in the list says.
std::string wrong_with_hosts(const JobSpec& job, const std::vector<Setting>& settings) {
  if (!job.hosts.asked()) return idle_without_hosts(job, settings);
  const std::string hosts = written(settings, job.hosts.list ? "hosts" : "hostfile");
  if (job.hosts.list && job.hosts.file)
    return hosts + " and " + written(settings, "hostfile") + ": drop one of them";
  const auto drop = [&](std::string_view name, const std::string& why) {
    return hosts + " and " + written(settings, name) + ": " + why + "; drop one of them";
  };
  const auto given = [&](std::string_view name) {
    return std::ranges::any_of(settings, [&](const Setting& s) { return s.option->name == name; });
  };
  if (job.doctor) return drop("doctor", "it looks at this machine alone; run it on each of them");
  if (job.standalone) return drop("standalone", "standalone is this host alone");
  if (given("node-rank")) return drop("node-rank", "a host's place in the list is its number");
  if (job.rendezvous.engine != cluster::Engine::none)
    return drop("cluster", "either ddprun or the cluster starts the nodes");
  if (job.rendezvous.kind == RendezvousSpec::Kind::by_arrival)
    return drop("rdzv-backend", "the hosts are given, which is static");
  if (job.stdin_rank) return drop("stdin", "no worker of another host can read it");
  return {};
}

}  // namespace

std::string contradiction(const JobSpec& job, const std::vector<Setting>& settings) {
  const auto both = [&](std::string_view one, std::string_view other, const std::string& why) {
    return written(settings, one) + " and " + written(settings, other) + ": " + why;
  };
  if (std::string wrong = wrong_with_hosts(job, settings); !wrong.empty()) return wrong;
  if (is_static_range(job))
    return both("nnodes", "rdzv-backend", "a range needs c10d, static takes one number");
  if (job.standalone && job.rendezvous.min_nodes > 1)
    return both("standalone", "nnodes", "standalone is one node; drop one of them");
  if (more_than_given(job))
    return written(settings, "nproc-per-node") + " and " + shown(*job.rendezvous.gpus) +
           ": this job has fewer GPUs of this node; write -n " +
           std::to_string(job.rendezvous.gpus->value) +
           ", or --oversubscribe (workers share GPUs), or --device cpu";
  if (shares_a_host(job))
    return written(settings, "cluster") + " and " + shown(*job.rendezvous.processes_on_host) +
           ": one ddprun on each host starts its workers, so start one (mpirun --map-by "
           "ppr:1:node), or say with -n how many each of them has";
  if (job.output == OutputMode::inherit) {
    if (const std::string_view name = touches_lines(job, settings); !name.empty())
      return both("output", name,
                  "inherited output does not come through ddprun; drop one of them");
  }
  if (job.stdin_rank && !job.rendezvous.several_nodes() &&
      job.workers.kind == WorkerCount::Kind::number && *job.stdin_rank >= job.workers.number) {
    return both("stdin", "nproc-per-node",
                "there are ranks 0 to " + std::to_string(job.workers.number - 1) + " only");
  }
  if (job.report && job.report == job.events)
    return both("report", "events", "they need different files, and only one can be -");
  return {};
}

}  // namespace ddprun::cli
