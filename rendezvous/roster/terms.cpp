#include "rendezvous/roster/terms.h"

#include <algorithm>

#include "rendezvous/base/span_text.h"
#include "rendezvous/roster/run_limits.h"
#include "rendezvous/roster/wording.h"

namespace ddprun::roster {
namespace {

// "0.1" of "0.1.7", "2" of "2.3.4".
std::string_view generation(std::string_view version) {
  const std::size_t major = version.find('.');
  if (major == std::string_view::npos) return version;
  const bool before_first = version.substr(0, major) == "0";
  return version.substr(0, before_first ? version.find('.', major + 1) : major);
}

std::string say(const Join& join) {
  return "node " + join.node;
}

// Two ddpruns of one host have one name.
std::string with_pid(int pid, bool needed) {
  return needed ? " (pid " + std::to_string(pid) + ")" : "";
}

std::string newcomer(const Terms& terms, const Join& join) {
  return say(join) + with_pid(join.pid, join.node == terms.node);
}

std::string first(const Terms& terms, const Join& join) {
  return "node " + terms.node + with_pid(terms.pid, join.node == terms.node);
}

std::string differ(const Terms& terms, const Join& join, const std::string& option,
                   const std::string& here, const std::string& there) {
  return newcomer(terms, join) + " says " + option + " " + here + ", " + first(terms, join) +
         " says " + option + " " + there + ": all nodes of run " + terms.run + " must say the same";
}

std::string nnodes(int min, int max) {
  return min == max ? std::to_string(max) : std::to_string(min) + ":" + std::to_string(max);
}

nanoseconds ping_interval(const Join& join, const Server& server) {
  return std::max<nanoseconds>(join.keep_alive_interval.value_or(server.ping_interval),
                               kMinPingInterval);
}

// A node that falls silent holds its run, and memory of the server, for interval times attempts.
std::optional<std::string> too_patient(const Join& join) {
  const nanoseconds interval = ping_interval(join, Server());
  const int attempts = join.keep_alive_max_attempt.value_or(Server().ping_attempts);
  if (interval <= nanoseconds(kMaxSilence) / std::max(attempts, 1)) return {};
  return say(join) + " wants " + count_text(static_cast<std::size_t>(attempts), "ping") +
         " (keep_alive_max_attempt) " + span_text(interval) +
         " apart (keep_alive_interval): together at most " + span_text(kMaxSilence) + " are taken";
}

std::optional<std::string> impossible(const Join& join) {
  if (join.addresses.empty()) return say(join) + " gives no address of its own";
  if (join.node_rank && *join.node_rank >= join.max_nodes)
    return say(join) + " wants node rank " + std::to_string(*join.node_rank) + ", but --nnodes " +
           nnodes(join.min_nodes, join.max_nodes) + " has node ranks 0 to " +
           std::to_string(join.max_nodes - 1) + " only";
  if (join.static_ranks && !join.node_rank)
    return say(join) + " gives no node rank: with --rdzv-backend static each node needs one";
  if (join.min_nodes > join.max_nodes)
    return say(join) + " says --nnodes " + nnodes(join.min_nodes, join.max_nodes) +
           ": the first number is the larger one";
  return too_patient(join);
}

}  // namespace

bool compatible(const std::string& a, const std::string& b) {
  return generation(a) == generation(b);
}

Terms terms_of(const Join& first, const Server& server) {
  return {.run = first.run,
          .node = first.node,
          .pid = first.pid,
          .version = first.version,
          .min_nodes = first.min_nodes,
          .max_nodes = first.max_nodes,
          .max_restarts = first.max_restarts,
          .static_ranks = first.static_ranks,
          .grow = first.grow,
          .join_timeout = first.join_timeout,
          .last_call_timeout = first.last_call_timeout,
          .reconnect_timeout = first.reconnect_timeout,
          .ping_interval = ping_interval(first, server),
          .ping_attempts = first.keep_alive_max_attempt.value_or(server.ping_attempts)};
}

std::optional<std::string> conflict(const Terms& terms, const Join& join) {
  if (!compatible(terms.version, join.version))
    return newcomer(terms, join) + " runs ddprun " + join.version + ", " + first(terms, join) +
           " runs ddprun " + terms.version + ": install the same version on all nodes";
  if (terms.static_ranks != join.static_ranks)
    return differ(terms, join, "--rdzv-backend", join.static_ranks ? "static" : "c10d",
                  terms.static_ranks ? "static" : "c10d");
  if (terms.min_nodes != join.min_nodes || terms.max_nodes != join.max_nodes)
    return differ(terms, join, "--nnodes", nnodes(join.min_nodes, join.max_nodes),
                  nnodes(terms.min_nodes, terms.max_nodes));
  if (terms.max_restarts != join.max_restarts)
    return differ(terms, join, "--max-restarts", std::to_string(join.max_restarts),
                  std::to_string(terms.max_restarts));
  return impossible(join);
}

}  // namespace ddprun::roster
