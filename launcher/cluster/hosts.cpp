#include "launcher/cluster/allocation.h"
#include "launcher/cluster/variables.h"

namespace ddprun::cluster {

Result<Allocation> read_hosts(const Variables& variables) {
  const auto rank = number_of(variables, {kHostsRank});
  if (!rank) return rank.error();
  const auto nodes = number_of(variables, {kHostsSize}, 1);
  if (!nodes) return nodes.error();
  const auto port = number_of(variables, {kHostsPort}, 0, 65'535);
  if (!port) return port.error();
  if (!*rank || !*nodes || (*rank)->value >= (*nodes)->value)
    return Error{
        "DDPRUN_HOSTS_RANK and DDPRUN_HOSTS_SIZE are no place among hosts; unset both, they "
        "are for a ddprun that ddprun --hosts starts"};
  Allocation allocation;
  allocation.node_rank = *rank;
  allocation.nodes = *nodes;
  if (auto host = text_of(variables, {kHostsAddress}))
    allocation.host = Sourced<std::string>{host->value, "--hosts"};
  if (*port)
    allocation.port = Sourced<std::uint16_t>{static_cast<std::uint16_t>((*port)->value), "--hosts"};
  return allocation;
}

}  // namespace ddprun::cluster
