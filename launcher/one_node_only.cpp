#include "launcher/one_node_only.h"

namespace ddprun {
namespace {

std::string range_of(const cli::RendezvousSpec& spec) {
  const std::string most = std::to_string(spec.max_nodes);
  return spec.min_nodes == spec.max_nodes ? most : std::to_string(spec.min_nodes) + ":" + most;
}

}  // namespace

std::string needs_other_nodes(const cli::JobSpec& spec) {
  if (!spec.rendezvous.several_nodes() || spec.rendezvous.min_nodes == 1) return "";
  return "a job of " + range_of(spec.rendezvous) + " nodes (" + spec.rendezvous.nodes_source +
         ") is not available yet in this version of ddprun";
}

void note_that_none_can_join(cli::JobSpec& spec) {
  if (!spec.rendezvous.several_nodes() || spec.rendezvous.min_nodes > 1) return;
  spec.notices.push_back(spec.rendezvous.nodes_source + " " + range_of(spec.rendezvous) +
                         ": this version of ddprun runs one node, no other can join");
}

}  // namespace ddprun
