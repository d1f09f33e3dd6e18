#include "launcher/plan/rendezvous_text.h"

#include <algorithm>
#include <cstdio>

namespace ddprun::plan {
namespace {

using Kind = cli::RendezvousSpec::Kind;

std::string row(std::string_view name, const std::string& value, const std::string& from = "") {
  std::string line = "  " + std::string(name);
  line.resize(14, ' ');
  return line + value + (from.empty() ? "" : "  (" + from + ")") + "\n";
}

std::string seconds(std::chrono::milliseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", static_cast<double>(time.count()) / 1000);
  return text;
}

std::string nodes_of(const cli::RendezvousSpec& spec) {
  const std::string most = std::to_string(spec.max_nodes);
  return spec.min_nodes == spec.max_nodes ? most : std::to_string(spec.min_nodes) + " to " + most;
}

std::string node_rank_row(const cli::RendezvousSpec& spec) {
  if (!spec.node_rank) return row("node rank", "as the nodes arrive");
  const bool wish = spec.kind == Kind::by_arrival;
  return row("node rank", std::to_string(spec.node_rank->value) + (wish ? ", if it is free" : ""),
             spec.node_rank->source.empty() ? "not given" : spec.node_rank->source);
}

std::string server_of(const cli::RendezvousSpec& spec) {
  if (!spec.conf.is_host)
    return spec.kind == Kind::fixed ? "node 0 hosts it, or a daemon"
                                    : "the node that has this address hosts it, or a daemon";
  return *spec.conf.is_host ? "this node hosts it" : "another node or a daemon hosts it";
}

std::string limits_of(const cli::RendezvousConf& conf) {
  return "join " + seconds(conf.join_timeout) + ", last call " + seconds(conf.last_call_timeout) +
         ", keep alive " + std::to_string(conf.keep_alive_max_attempt) + " x " +
         seconds(conf.keep_alive_interval) + ", reconnect " + seconds(conf.reconnect_timeout);
}

}  // namespace

std::string rendezvous_text(const cli::RendezvousSpec& spec) {
  if (!spec.several_nodes()) return "";
  std::string text = "rendezvous: " + std::string(cli::name_of(spec.kind)) + "\n";
  text += row("nodes", nodes_of(spec), spec.nodes_source) + node_rank_row(spec);
  const std::string& from = spec.endpoint.source;
  text += row("endpoint", cli::endpoints_text(spec), from.empty() ? "not given" : from);
  text += row("server", server_of(spec));
  text += row("run id", spec.run_id.value,
              spec.run_id.source.empty() ? "not given" : spec.run_id.source);
  if (spec.local_addr) text += row("this node", spec.local_addr->value, spec.local_addr->source);
  if (spec.token_file) text += row("token", spec.token_file->value, spec.token_file->source);
  if (!spec.token_file && spec.token_variable) text += row("token", "that of RDZV_TOKEN");
  if (spec.tls_ca) text += row("TLS CA", spec.tls_ca->value, spec.tls_ca->source);
  if (spec.tls_cert) text += row("certificate", spec.tls_cert->value, spec.tls_cert->source);
  text += row("limits", limits_of(spec.conf));
  if (spec.kind == Kind::by_arrival && !spec.conf.grow) text += row("grow", "off", "--rdzv-conf");
  return text +
         "  The ranks below are those of this node alone; the rendezvous gives the global ones.\n";
}

bool given_by_rendezvous(std::string_view variable) {
  constexpr std::string_view kNames[] = {"RANK",        "ROLE_RANK",        "WORLD_SIZE",
                                         "GROUP_RANK",  "GROUP_WORLD_SIZE", "ROLE_WORLD_SIZE",
                                         "MASTER_ADDR", "MASTER_PORT"};
  return std::ranges::find(kNames, variable) != std::end(kNames);
}

}  // namespace ddprun::plan
