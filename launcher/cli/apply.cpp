#include "launcher/cli/apply.h"

#include "launcher/cli/rdzv_conf.h"
#include "launcher/cli/signal_list.h"
#include "launcher/cli/values.h"

namespace ddprun::cli::apply {
namespace {

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

Reading simulate_gpus(const std::string& value, Settings& settings) {
  return store(read_integer(value, 0, kMostSimulatedGpus), settings.job.simulated_gpus);
}

Reading shutdown_timeout(const std::string& value, Settings& settings) {
  return store(read_seconds(value), settings.job.shutdown_timeout);
}

Reading nnodes(const std::string& value, Settings& settings) {
  const Result<NodeRange> nodes = read_nodes(value);
  if (!nodes) return wrong(nodes.error().text);
  if (nodes->min > 1) return not_yet();
  if (nodes->max > 1) {
    // The other ones may come or not, under torchrun as well; here it is known that none does.
    settings.job.notices.push_back(settings.label + " " + value +
                                   ": this version of ddprun runs one node, no other can join");
  }
  return taken();
}

Reading node_rank(const std::string& value, Settings&) {
  const Result<int> rank = read_integer(value, 0, 1'000'000);
  if (!rank) return wrong(rank.error().text);
  if (*rank == 0) return taken();
  return wrong("'" + value + "' is beyond the last node: there is one, number 0 (--nnodes 1)");
}

Reading max_restarts(const std::string& value, Settings& settings) {
  return store(read_integer(value, 0, kMostRestarts), settings.job.max_restarts);
}

Reading rdzv_backend(const std::string& value, Settings&) {
  if (value == "etcd") return not_yet();
  if (value == "etcd-v2")
    return wrong("'etcd-v2' speaks a protocol that etcd has given up; write static, c10d or etcd");
  static constexpr Choice<bool> kBackends[] = {{"static", true}, {"c10d", true}, {"etcd", false}};
  const Result<bool> known = read_choice<bool>(value, kBackends);
  return known ? taken() : wrong(known.error().text);
}

Reading rdzv_conf(const std::string& value, Settings& settings) {
  const auto unknown = unknown_conf_keys(value);
  if (!unknown) return wrong(unknown.error().text);
  for (const std::string_view key : *unknown) {
    settings.job.notices.push_back(settings.label + ": no rendezvous has the key '" +
                                   std::string(key) + "', ignored" + did_you_mean_conf_key(key));
  }
  return taken();
}

Reading local_addr(const std::string&, Settings& settings) {
  settings.job.notices.push_back(settings.label + ": meaningless with one node, ignored");
  return taken();
}

Reading cluster(const std::string& value, Settings&) {
  static constexpr Choice<bool> kClusters[] = {
      {"none", true}, {"slurm", false}, {"kubernetes", false}, {"mpi", false}};
  const Result<bool> built = read_choice<bool>(value, kClusters);
  if (!built) return wrong(built.error().text);
  return *built ? taken() : not_yet();
}

Reading bind(const std::string& value, Settings& settings) {
  static constexpr Choice<BindMode> kModes[] = {{"none", BindMode::none},
                                                {"node", BindMode::node},
                                                {"socket", BindMode::socket},
                                                {"exclusive", BindMode::exclusive},
                                                {"core-complex", BindMode::core_complex},
                                                {"cores", BindMode::cores}};
  return store(read_choice<BindMode>(value, kModes), settings.job.bind);
}

Reading threads(const std::string& value, Settings& settings) {
  using Kind = ThreadCount::Kind;
  if (value == "auto") {
    settings.job.threads = {Kind::automatic, 0};
    return taken();
  }
  const Result<int> number = read_integer(value, 1, kMostThreads);
  if (!number) return wrong(number.error().text + ", or auto");
  settings.job.threads = {Kind::number, *number};
  return taken();
}

Reading signals_to_handle(const std::string& value, Settings& settings) {
  return store(read_signals(value), settings.job.signals_to_handle);
}

Reading restart_backoff(const std::string& value, Settings& settings) {
  return store(read_seconds(value), settings.job.restart_backoff);
}

}  // namespace ddprun::cli::apply
