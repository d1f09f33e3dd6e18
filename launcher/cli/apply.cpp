#include "launcher/cli/apply.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "launcher/cli/values.h"

namespace ddprun::cli::apply {
namespace {

Reading taken() {
  return {};
}
Reading wrong(std::string text) {
  return {Reading::Kind::wrong, std::move(text)};
}
Reading not_yet() {
  return {Reading::Kind::not_yet};
}

template <class T, class Target>
Reading store(const Result<T>& value, Target& target) {
  if (!value) return wrong(value.error().text);
  target = *value;
  return taken();
}

bool has_blank(const std::string& text) {
  return text.find_first_of(" \t\r\n") != std::string::npos;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// One node meets on its own loopback interface, whatever address is written.
void set_master_addr(const std::string& host, Settings& settings) {
  settings.job.master_addr = host;
  if (!is_loopback(host)) {
    settings.job.notices.push_back(settings.label + ": one node needs no '" + host +
                                   "', its workers meet on 127.0.0.1");
  }
}

Reading set_port(std::uint16_t port, Settings& settings) {
  settings.job.master_port = port == 0 ? std::nullopt : std::optional(port);
  return taken();
}

}  // namespace

Reading nproc_per_node(const std::string& value, Settings& settings) {
  return store(read_worker_count(value), settings.job.workers);
}

Reading role(const std::string& value, Settings& settings) {
  settings.job.role = value;
  return taken();
}

Reading standalone(const std::string& value, Settings& settings) {
  return store(read_boolean(value), settings.job.standalone);
}

Reading module(const std::string& value, Settings& settings) {
  return store(read_boolean(value), settings.job.module);
}

Reading no_python(const std::string& value, Settings& settings) {
  return store(read_boolean(value), settings.job.no_python);
}

Reading run_path(const std::string& value, Settings& settings) {
  return store(read_boolean(value), settings.job.run_path);
}

Reading rdzv_endpoint(const std::string& value, Settings& settings) {
  const Result<Endpoint> endpoint = read_endpoint(value);
  if (!endpoint) return wrong(endpoint.error().text);
  if (!endpoint->port) {
    const bool number = value.find_first_not_of("0123456789") == std::string::npos;
    return wrong("'" + value +
                 (number ? "' has no host; write localhost:" : "' has no port; write ") + value +
                 (number ? "" : ":PORT"));
  }
  set_master_addr(endpoint->host, settings);
  return set_port(*endpoint->port, settings);
}

Reading rdzv_id(const std::string& value, Settings& settings) {
  settings.job.run_id = value;
  return taken();
}

Reading master_addr(const std::string& value, Settings& settings) {
  if (has_blank(value)) return wrong("'" + value + "' is not a host: there is a blank in it");
  const auto colon = value.find(':');
  if (colon != std::string::npos && value.find(':', colon + 1) == std::string::npos) {
    return wrong("'" + value + "' has a port in it; write --master-addr " + value.substr(0, colon) +
                 " --master-port " + value.substr(colon + 1));
  }
  set_master_addr(value, settings);
  return taken();
}

Reading master_port(const std::string& value, Settings& settings) {
  const Result<std::uint16_t> port = read_port(value);
  return port ? set_port(*port, settings) : wrong(port.error().text);
}

Reading device(const std::string& value, Settings& settings) {
  if (value == "auto")
    settings.job.device = DeviceChoice::automatic;
  else if (value == "cuda")
    settings.job.device = DeviceChoice::cuda;
  else if (value == "cpu")
    settings.job.device = DeviceChoice::cpu;
  else
    return wrong("'" + value + "' is not a device; write auto, cuda or cpu");
  return taken();
}

Reading oversubscribe(const std::string& value, Settings& settings) {
  return store(read_boolean(value), settings.job.oversubscribe);
}

Reading simulate_gpus(const std::string& value, Settings& settings) {
  return store(read_integer(value, 0, kMostSimulatedGpus), settings.job.simulated_gpus);
}

Reading shutdown_timeout(const std::string& value, Settings& settings) {
  return store(read_seconds(value), settings.job.shutdown_timeout);
}

Reading quiet(const std::string& value, Settings& settings) {
  const Result<bool> on = read_boolean(value);
  if (!on) return wrong(on.error().text);
  if (*on) settings.job.verbosity = Verbosity::quiet;
  return taken();
}

Reading verbose(const std::string& value, Settings& settings) {
  const Result<bool> on = read_boolean(value);
  if (!on) return wrong(on.error().text);
  if (!*on) return taken();
  if (settings.job.verbosity == Verbosity::quiet)
    return wrong("it excludes --quiet; give one of the two");
  settings.job.verbosity = Verbosity::verbose;
  return taken();
}

Reading dry_run(const std::string& value, Settings& settings) {
  return store(read_boolean(value), settings.job.dry_run);
}

Reading pass_local_rank(const std::string& value, Settings& settings) {
  auto& argument = settings.job.local_rank_argument;
  if (value == "local_rank")
    argument = LocalRankArgument::underscore;
  else if (value == "local-rank" || value == "1" || value == "true")
    argument = LocalRankArgument::dash;
  else if (value == "0" || value == "false")
    argument = LocalRankArgument::none;
  else
    return wrong("'" + value +
                 "' is not a spelling of the argument; write local-rank or local_rank");
  return taken();
}

Reading monitor_interval(const std::string& value, Settings&) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error == std::errc{} && end == value.data() + value.size()) return taken();
  return wrong("'" + value +
               "' is not a time in seconds (ddprun polls nothing, so it can be left out)");
}

Reading start_method(const std::string& value, Settings&) {
  if (value == "spawn" || value == "fork" || value == "forkserver") return taken();
  return wrong("'" + value + "' is not spawn, fork or forkserver (none of them changes anything)");
}

Reading event_log_handler(const std::string& value, Settings& settings) {
  if (value != "null" && value != "dynamic_rendezvous")
    settings.job.notices.push_back(settings.label + ": ddprun has no handler '" + value +
                                   "', events are not logged");
  return taken();
}

Reading flag(const std::string& value, Settings&) {
  const Result<bool> on = read_boolean(value);
  return on ? taken() : wrong(on.error().text);
}

Reading nnodes(const std::string& value, Settings&) {
  const Result<NodeRange> nodes = read_nodes(value);
  if (!nodes) return wrong(nodes.error().text);
  return nodes->max == 1 ? taken() : not_yet();
}

Reading zero(const std::string& value, Settings&) {
  const Result<int> number = read_integer(value, 0, 1'000'000);
  if (!number) return wrong(number.error().text);
  return *number == 0 ? taken() : not_yet();
}

Reading streams(const std::string& value, Settings&) {
  const Result<bool> any = read_stream_map(value);
  if (!any) return wrong(any.error().text);
  return *any ? not_yet() : taken();
}

Reading rdzv_backend(const std::string& value, Settings&) {
  if (value == "static" || value == "c10d") return taken();
  if (value == "etcd") return not_yet();
  if (value == "etcd-v2")
    return wrong("'etcd-v2' speaks a protocol that etcd has given up; write static, c10d or etcd");
  return wrong("'" + value + "' is not a rendezvous; write static, c10d or etcd");
}

Reading only_none(const std::string& value, Settings&) {
  return value == "none" ? taken() : not_yet();
}

Reading only_auto(const std::string& value, Settings&) {
  return value == "auto" ? taken() : not_yet();
}

Reading signals_to_handle(const std::string& value, Settings&) {
  std::set<std::string> names;
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    names.insert(value.substr(begin, end - begin));
    begin = end + 1;
  }
  const std::set<std::string> usual{"SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"};
  return names == usual ? taken() : not_yet();
}

Reading unset_flag(const std::string& value, Settings&) {
  const Result<bool> on = read_boolean(value);
  if (!on) return wrong(on.error().text);
  return *on ? not_yet() : taken();
}

Reading logs_specs(const std::string&, Settings&) {
  return wrong("layouts of logs that are Python plug-ins cannot be loaded by ddprun; leave it out");
}

}  // namespace ddprun::cli::apply
