#include "launcher/cli/rendezvous.h"

#include <algorithm>

#include "launcher/cli/meeting_point.h"

namespace ddprun::cli {
namespace {

using Kind = RendezvousSpec::Kind;

struct Question {
  const RendezvousGiven& given;
  const Environment& environment;
  const cluster::Allocation& allocation;

  bool by_arrival() const { return given.by_arrival && given.by_arrival->value; }
};

std::string shown(const Sourced<int>& number) {
  return number.source + "=" + std::to_string(number.value);
}

Error contradict(const std::string& option, const Sourced<int>& engine) {
  return Error{option + " and " + shown(engine) + " contradict each other; leave " + option +
               " out, or --cluster"};
}

cluster::Variables variables_of(const Environment& environment) {
  return [&environment](std::string_view name) { return environment.get(name); };
}

Result<cluster::Allocation> ask_engine(const RendezvousGiven& given,
                                       const Environment& environment) {
  if (!given.engine) return cluster::Allocation{};
  auto allocation = cluster::read(given.engine->value, variables_of(environment));
  if (!allocation) return Error{given.engine->written + ": " + allocation.error().text};
  return allocation;
}

// Nodes that are there beyond a range's MAX wait as spares.
bool fits(const NodeRange& range, bool by_arrival, int nodes) {
  if (by_arrival && range.max > 1) return range.min <= nodes;
  return range.min == nodes && range.max == nodes;
}

Error unknown_size(const Said<cluster::Engine>& engine) {
  if (engine.value == cluster::Engine::kubernetes)
    return Error{engine.written +
                 ": a pod does not know how many there are; give --nnodes, the completions of the "
                 "Job"};
  return Error{engine.written +
               ": the launcher does not say how many nodes there are; give "
               "--nnodes"};
}

Result<void> settle_nodes(const Question& q, RendezvousSpec& spec) {
  const auto& known = q.allocation.nodes;
  const bool engine = q.given.engine && q.given.engine->value != cluster::Engine::none;
  if (q.given.nodes) {
    const NodeRange& range = q.given.nodes->value;
    if (known && !fits(range, q.by_arrival(), known->value))
      return contradict(q.given.nodes->written, *known);
    spec.min_nodes = range.min;
    spec.max_nodes = range.max;
    spec.nodes_source = q.given.nodes->label;
  } else if (known) {
    spec.min_nodes = spec.max_nodes = known->value;
    spec.nodes_source = known->source;
  } else if (engine) {
    return unknown_size(*q.given.engine);
  }
  return {};
}

void settle_run_id(const Question& q, RendezvousSpec& spec) {
  if (q.given.run_id) {
    spec.run_id = {q.given.run_id->value, q.given.run_id->label};
    spec.run_id_origin = RunIdOrigin::option;
  } else if (q.allocation.run_id) {
    spec.run_id = *q.allocation.run_id;
    spec.run_id_origin = RunIdOrigin::scheduler;
  } else if (spec.several_nodes()) {
    spec.run_id = {"none", ""};
    spec.run_id_origin = RunIdOrigin::none;
  }
}

Error beyond(const Said<int>& rank, int nodes) {
  return Error{rank.label + ": '" + std::to_string(rank.value) + "' is beyond the last node: " +
               (nodes == 1 ? "there is one, number 0 (--nnodes 1)"
                           : "there are " + std::to_string(nodes) + ", numbers 0 to " +
                                 std::to_string(nodes - 1))};
}

// ---- one node ----

// One node meets on its own loopback interface, whatever address is written.
void set_address(const std::string& label, const std::string& host, JobSpec& job) {
  job.master_addr = host;
  if (is_loopback(host)) return;
  job.notices.push_back(label + ": one node needs no '" + host +
                        "', its workers meet on 127.0.0.1");
}

void set_port(std::uint16_t port, JobSpec& job) {
  job.master_port = port == 0 ? std::nullopt : std::optional(port);
}

Result<void> settle_store(const Question& q, JobSpec& job) {
  const auto& endpoint = q.given.endpoint;
  if (endpoint && q.by_arrival()) {
    job.notices.push_back(endpoint->label + ": meaningless with one node, ignored");
  } else if (endpoint) {
    const auto& [host, port] = endpoint->value;
    if (!port)
      return Error{endpoint->label + ": '" + host + "' has no port; write " + in_brackets(host) +
                   ":PORT"};
    set_address(endpoint->label, host, job);
    set_port(*port, job);
  }
  if (q.given.master_addr) set_address(q.given.master_addr->label, q.given.master_addr->value, job);
  if (q.given.master_port) set_port(q.given.master_port->value, job);
  return {};
}

Result<void> settle_one_node(const Question& q, JobSpec& job) {
  if (auto settled = settle_store(q, job); !settled) return settled.error();
  if (q.given.node_rank && q.given.node_rank->value != 0) {
    if (!q.by_arrival()) return beyond(*q.given.node_rank, 1);
    job.notices.push_back(q.given.node_rank->label + ": meaningless with one node, ignored");
  }
  job.rendezvous.node_rank = Sourced<int>{0, ""};
  for (const auto& given :
       {q.given.local_addr, q.given.token_file, q.given.tls_ca, q.given.tls_cert, q.given.tls_key})
    if (given) job.notices.push_back(given->label + ": meaningless with one node, ignored");
  return {};
}

// ---- several nodes ----

Result<std::optional<Sourced<int>>> rank_of_environment(const Question& q) {
  const auto text = variable_value(q.environment, "NODE_RANK");
  if (!text) return std::optional<Sourced<int>>();
  const Result<int> rank = read_integer(*text, 0, cluster::kMostNodes);
  if (!rank) return Error{"NODE_RANK: " + rank.error().text};
  return std::optional(Sourced<int>{*rank, "NODE_RANK"});
}

// What torchrun calls static: every node has its number.
Result<void> settle_fixed_rank(const Question& q, JobSpec& job) {
  RendezvousSpec& spec = job.rendezvous;
  if (!spec.node_rank && q.given.engine && q.given.engine->value != cluster::Engine::none)
    return Error{q.given.engine->written + ": it is not known which node this is" +
                 (q.allocation.notices.empty() ? "" : ": " + q.allocation.notices.back()) +
                 "; give --node-rank"};
  if (!spec.node_rank) {
    const auto set = rank_of_environment(q);
    if (!set) return set.error();
    spec.node_rank = set->value_or(Sourced<int>{0, ""});
  }
  if (spec.node_rank->value >= spec.max_nodes)
    return beyond({spec.node_rank->value, spec.node_rank->source, ""}, spec.max_nodes);
  if (spec.node_rank->source.empty())
    job.notices.push_back("neither --node-rank nor NODE_RANK is given, so this is node 0 of " +
                          std::to_string(spec.max_nodes));
  return {};
}

Result<void> settle_node_rank(const Question& q, JobSpec& job) {
  RendezvousSpec& spec = job.rendezvous;
  const auto& typed = q.given.node_rank;
  const auto& known = q.allocation.node_rank;
  if (typed && known && typed->value != known->value) return contradict(typed->written, *known);
  if (typed)
    spec.node_rank = Sourced<int>{typed->value, typed->label};
  else
    spec.node_rank = known;
  if (spec.kind == Kind::fixed) return settle_fixed_rank(q, job);
  if (!spec.node_rank || spec.node_rank->value < spec.max_nodes) return {};
  // A spare has no number, whatever its place in the allocation is.
  if (typed)
    job.notices.push_back(typed->written + ": there are at most " + std::to_string(spec.max_nodes) +
                          " nodes, so this one takes what is free");
  spec.node_rank.reset();
  return {};
}

void say_what_the_environment_gave(std::vector<std::string> entries, JobSpec& job) {
  const auto& rank = job.rendezvous.node_rank;
  if (rank && rank->source == "NODE_RANK") entries.push_back(shown(*rank));
  if (entries.empty()) return;
  std::string line;
  for (std::size_t i = 0; i < entries.size(); ++i)
    line += (i == 0 ? "" : i + 1 < entries.size() ? ", " : " and ") + entries[i];
  job.notices.push_back(line + " of the environment " + (entries.size() == 1 ? "is" : "are") +
                        " used, because no option says it");
}

Result<void> heed_idle_conf(const Question& q, JobSpec& job) {
  if (!q.given.conf) return {};
  const Said<ReadConf>& conf = *q.given.conf;
  if (conf.value.in_a_file)
    return Error{conf.label + ": 'store_type=file': nodes meet over TCP only; leave it out"};
  std::string keys;
  for (const std::string& key : conf.value.idle) keys += (keys.empty() ? "" : ", ") + key;
  if (!keys.empty()) job.notices.push_back(conf.label + ": ddprun needs no " + keys + ", ignored");
  return {};
}

Result<void> settle_several_nodes(const Question& q, JobSpec& job) {
  RendezvousSpec& spec = job.rendezvous;
  auto found =
      find_meeting_point(q.given, spec.kind == Kind::by_arrival, q.allocation, q.environment);
  if (!found) return found.error();
  spec.endpoint = std::move(found->point);
  spec.more_endpoints = std::move(found->more);
  if (!spec.more_endpoints.empty() && q.given.conf &&
      q.given.conf->value.conf.is_host.value_or(false))
    return Error{q.given.conf->label + ": 'is_host=1': no node hosts the rendezvous where " +
                 spec.endpoint.source + " names several rdzvd; leave it out"};
  std::ranges::move(found->notices, std::back_inserter(job.notices));
  if (auto settled = settle_node_rank(q, job); !settled) return settled.error();
  say_what_the_environment_gave(std::move(found->from_environment), job);
  const auto keep = [](const std::optional<Said<std::string>>& from,
                       std::optional<Sourced<std::string>>& to) {
    if (from) to = Sourced<std::string>{from->value, from->label};
  };
  keep(q.given.token_file, spec.token_file);
  keep(q.given.tls_ca, spec.tls_ca);
  keep(q.given.tls_cert, spec.tls_cert);
  keep(q.given.tls_key, spec.tls_key);
  if (q.given.local_addr)
    spec.local_addr = Sourced<std::string>{q.given.local_addr->value, q.given.local_addr->label};
  return heed_idle_conf(q, job);
}

// ---- what the engine knows besides ----

// Without a list the driver would show us GPUs that are other jobs'.
void take_number_of_gpus(const Question& q, JobSpec& job) {
  const auto& gpus = job.rendezvous.gpus;
  if (!gpus || gpus->value == 0 || job.workers.kind != WorkerCount::Kind::unset ||
      job.device == DeviceChoice::cpu || job.simulated_gpus ||
      q.environment.get("CUDA_VISIBLE_DEVICES"))
    return;
  job.workers = {WorkerCount::Kind::number, gpus->value};
  job.notices.push_back(shown(*gpus) + ": one worker for each of them");
}

void add_notices_of_engine(const Question& q, JobSpec& job) {
  for (const std::string& notice : q.allocation.notices)
    job.notices.push_back(q.given.engine->written + ": " + notice);
  const auto& processes = job.rendezvous.processes_on_host;
  if (processes && processes->value > 1)
    job.notices.push_back(q.given.engine->written + ": " + std::to_string(processes->value) +
                          " ddpruns are on this host (" + shown(*processes) +
                          "); each counts as a node");
}

void hint_at_slurm(const Question& q, JobSpec& job) {
  if (q.given.engine || q.given.nodes || job.standalone) return;
  const std::string hint = cluster::slurm_hint(variables_of(q.environment));
  if (!hint.empty()) job.notices.push_back(hint);
}

}  // namespace

Result<void> settle_rendezvous(const RendezvousGiven& given, const Environment& environment,
                               JobSpec& job) {
  const Result<cluster::Allocation> allocation = ask_engine(given, environment);
  if (!allocation) return allocation.error();
  const Question q{given, environment, *allocation};
  RendezvousSpec& spec = job.rendezvous;
  if (given.engine) spec.engine = given.engine->value;
  if (given.conf) spec.conf = given.conf->value.conf;
  if (auto settled = settle_nodes(q, spec); !settled) return settled.error();
  if (spec.max_nodes > 1 && !job.standalone)
    spec.kind = q.by_arrival() ? Kind::by_arrival : Kind::fixed;
  spec.gpus = allocation->gpus;
  spec.processes_on_host = allocation->processes_on_host;
  spec.hosts = allocation->hosts;
  auto settled = spec.several_nodes() ? settle_several_nodes(q, job) : settle_one_node(q, job);
  if (!settled) return settled.error();
  settle_run_id(q, spec);
  if (!spec.run_id.value.empty()) job.run_id = spec.run_id.value;
  take_number_of_gpus(q, job);
  add_notices_of_engine(q, job);
  hint_at_slurm(q, job);
  return {};
}

std::string text_of(const MeetingPoint& point) {
  return in_brackets(point.host) + ":" + std::to_string(point.port);
}

std::string endpoints_text(const RendezvousSpec& spec) {
  std::string text = text_of(spec.endpoint.value);
  for (const MeetingPoint& each : spec.more_endpoints) text += "," + text_of(each);
  return text;
}

std::string in_brackets(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

std::string_view name_of(RendezvousSpec::Kind kind) {
  switch (kind) {
    case Kind::fixed:
      return "static";
    case Kind::by_arrival:
      return "c10d";
    case Kind::alone:
      break;
  }
  return "alone";
}

}  // namespace ddprun::cli
