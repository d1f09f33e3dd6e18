// Any variables of Slurm, Kubernetes and MPI launchers, and the lists and tables that come with
// them: what is understood is consistent, what is not is refused with a reason. The input is lines
// NAME=value; each value is also read as a list of hosts, of aliases and of a node's properties.
#include <cstdint>
#include <map>

#include "launcher/cluster/allocation.h"
#include "launcher/cluster/host_list.h"
#include "launcher/cluster/slurm_node.h"
#include "tests/fuzz/checks.h"

namespace {

using namespace ddprun;
using fuzz::require;

using Map = std::map<std::string, std::string, std::less<>>;

Map read(std::string_view bytes) {
  Map variables;
  for (const std::string_view line : fuzz::split(bytes, '\n')) {
    const auto equals = std::min(line.find('='), line.size());
    const std::string_view value = line.substr(std::min(equals + 1, line.size()));
    variables.emplace(line.substr(0, equals), value);
  }
  return variables;
}

void check(const Result<cluster::Allocation>& read) {
  if (!read) return require(!read.error().text.empty());
  const cluster::Allocation& found = *read;
  require(!found.nodes || found.nodes->value >= 1);
  require(!found.node_rank || found.node_rank->value >= 0);
  require(!found.nodes || !found.node_rank || found.node_rank->value < found.nodes->value);
  require(!found.host || !found.host->value.empty());
  require(!found.port || found.port->value != 0);
  require(!found.run_id || !found.run_id->value.empty());
  require(!found.gpus || found.gpus->value >= 0);
  require(!found.processes_on_host || found.processes_on_host->value >= 1);
  require(found.hosts.size() <= cluster::kMostHosts);
  for (const std::string& notice : found.notices) require(!notice.empty());
}

void check_hosts(std::string_view text) {
  const auto hosts = cluster::read_host_list(text);
  if (!hosts) return require(!hosts.error().text.empty() && hosts.error().text.size() < 300);
  require(!hosts->empty() && hosts->size() <= cluster::kMostHosts);
  std::string list;
  for (const std::string& host : *hosts) {
    require(!host.empty() && host.find_first_of("[],") == std::string::npos);
    list += (list.empty() ? "" : ",") + host;
  }
  const auto again = cluster::read_host_list(list);
  require(again && *again == *hosts);
}

void check_addresses(std::string_view text) {
  if (const auto address = cluster::node_address(text))
    require(!address->empty() && address->find_first_of(" \n") == std::string::npos);
  if (const auto address = cluster::alias_address(text, "n1")) require(!address->empty());
  cluster::is_no_such_node(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Map variables = read(fuzz::view_of(data, size));
  const cluster::Variables look = [&](std::string_view name) -> std::optional<std::string_view> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
  using enum cluster::Engine;
  for (const cluster::Engine engine : {slurm, kubernetes, mpi}) check(cluster::read(engine, look));
  const std::string hint = cluster::slurm_hint(look);
  require(hint.find('\n') == std::string::npos);
  for (const auto& [name, value] : variables) {
    check_hosts(value);
    check_addresses(value);
  }
  return 0;
}
