#include "rendezvous/roster/snapshot.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "rendezvous/protocol/roster_reader.h"

namespace ddprun::roster {
namespace {

namespace json = boost::json;

double seconds(nanoseconds span) {
  return std::chrono::duration<double>(span).count();
}

template <class T>
json::value or_null(const std::optional<T>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::array workers_json(const NodeSnapshot& node) {
  json::array workers;
  int local_rank = 0;
  for (const protocol::Started::Worker& worker : node.workers) {
    workers.push_back(
        {{"rank", node.first_rank ? json::value(*node.first_rank + local_rank) : nullptr},
         {"local_rank", local_rank},
         {"pid", worker.pid},
         {"device", worker.device}});
    ++local_rank;
  }
  return workers;
}

json::object node_json(const NodeSnapshot& node) {
  return {{"node", node.node},
          {"state", name(node.state)},
          {"address", node.address},
          {"pid", node.pid},
          {"nproc", node.nproc},
          {"node_rank", or_null(node.node_rank)},
          {"first_rank", or_null(node.first_rank)},
          {"heard_ago", seconds(node.heard_ago)},
          {"workers", workers_json(node)}};
}

json::value failure_json(const std::optional<Cause>& cause, bool with_lines) {
  if (!cause) return nullptr;
  json::object object{{"kind", protocol::cause_name(cause->kind)},
                      {"text", cause->text},
                      {"node", or_null(cause->node)},
                      {"rank", or_null(cause->rank)},
                      {"local_rank", or_null(cause->local_rank)},
                      {"code", or_null(cause->code)},
                      {"signal", or_null(cause->signal)},
                      {"absent", json::array(cause->absent.begin(), cause->absent.end())}};
  if (with_lines) object["lines"] = json::array(cause->lines.begin(), cause->lines.end());
  return object;
}

}  // namespace

std::string_view name(NodeSnapshot::State state) {
  switch (state) {
    case NodeSnapshot::State::waiting:
      return "waiting";
    case NodeSnapshot::State::working:
      return "working";
    case NodeSnapshot::State::stopping:
      return "stopping";
    case NodeSnapshot::State::finished:
      return "finished";
    case NodeSnapshot::State::spare:
      return "spare";
    case NodeSnapshot::State::away:
      break;
  }
  return "away";
}

std::string_view name(Snapshot::State state) {
  switch (state) {
    case Snapshot::State::waiting:
      return "waiting";
    case Snapshot::State::running:
      return "running";
    case Snapshot::State::stopping:
      return "stopping";
    case Snapshot::State::resuming:
      break;
  }
  return "resuming";
}

boost::json::object to_json(const Snapshot& snapshot, bool with_lines) {
  json::array nodes;
  for (const NodeSnapshot& node : snapshot.nodes) nodes.push_back(node_json(node));
  return {{"id", snapshot.run},
          {"state", name(snapshot.state)},
          {"age", seconds(snapshot.age)},
          {"in_state", seconds(snapshot.in_state)},
          {"round", or_null(snapshot.round)},
          {"restarts", snapshot.restarts},
          {"max_restarts", snapshot.max_restarts},
          {"min_nodes", snapshot.min_nodes},
          {"max_nodes", snapshot.max_nodes},
          {"world_size", snapshot.world_size},
          {"store", snapshot.store},
          {"missing", snapshot.missing},
          {"run_directory", snapshot.run_directory},
          {"last_failure", failure_json(snapshot.last_failure, with_lines)},
          {"nodes", std::move(nodes)}};
}

}  // namespace ddprun::roster
