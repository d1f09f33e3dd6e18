#include "launcher/report/plan_json.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <vector>

#include "launcher/cli/version.h"
#include "launcher/plan/command.h"
#include "launcher/plan/place.h"
#include "launcher/plan/rendezvous_text.h"
#include "launcher/plan/wording.h"
#include "launcher/plan/worker_environment.h"
#include "launcher/report/json_text.h"

namespace ddprun::report {
namespace {

namespace json = boost::json;

// Null is what is chosen at the start, by this node or by the rendezvous of `several_nodes`.
json::object variables(const std::vector<std::string>& entries, bool several_nodes) {
  json::object object;
  for (const std::string& entry : entries) {
    const std::string name(cli::variable_name(entry));
    const std::string value = entry.substr(std::min(entry.size(), name.size() + 1));
    const bool later =
        (name == "MASTER_PORT" && value == "0") ||
        (several_nodes && plan::given_by_rendezvous(name)) ||
        (value.empty() && (name == "TORCHELASTIC_RUN_ID" || name == "TORCHELASTIC_ERROR_FILE"));
    object[utf8(name)] = later ? json::value(nullptr) : json::value(utf8(value));
  }
  return object;
}

json::value gpu_of(const plan::WorkerPlan& worker) {
  if (!worker.gpu) return nullptr;
  return json::object{{"id", worker.gpu->index},
                      {"name", utf8(worker.gpu->name)},
                      {"uuid", text_or_null(worker.gpu->uuid)},
                      {"pci_address", text_or_null(worker.gpu->pci_address)}};
}

json::array nodes_of(const plan::WorkerPlan& worker) {
  json::array nodes;
  if (worker.binding)
    for (const int node : worker.binding->nodes) nodes.emplace_back(node);
  return nodes;
}

// Null for one node.
json::value rendezvous_of(const cli::RendezvousSpec& spec) {
  if (!spec.several_nodes()) return nullptr;
  json::object object{{"kind", cli::name_of(spec.kind)},
                      {"min_nodes", spec.min_nodes},
                      {"max_nodes", spec.max_nodes},
                      {"nodes_from", text_or_null(spec.nodes_source)},
                      {"node_rank", nullptr},
                      {"node_rank_from", nullptr},
                      {"endpoint", utf8(cli::text_of(spec.endpoint.value))},
                      {"endpoint_from", text_or_null(spec.endpoint.source)},
                      {"run_id", utf8(spec.run_id.value)},
                      {"run_id_from", text_or_null(spec.run_id.source)}};
  if (!spec.node_rank) return object;
  object["node_rank"] = spec.node_rank->value;
  object["node_rank_from"] = text_or_null(spec.node_rank->source);
  return object;
}

json::object rank_of(const plan::WorkerPlan& worker, const plan::LaunchPlan& plan,
                     const plan::WorkerEnvironment& environment) {
  return {{"rank", worker.rank},
          {"local_rank", worker.local_rank},
          {"device", utf8(plan::device_text(worker))},
          {"gpu", gpu_of(worker)},
          {"cpus", text_or_null(plan::cpus_text(worker))},
          {"numa_nodes", nodes_of(worker)},
          {"command", texts(plan::command_line(worker, plan.host, 0))},
          {"environment", variables(environment.own(worker, ""), plan.rendezvous.several_nodes())}};
}

}  // namespace

std::string plan_json(const plan::LaunchPlan& plan, const plan::Meeting& meeting,
                      const cli::Environment& parent, const std::string& refusal) {
  const plan::WorkerEnvironment environment(plan, meeting, parent);
  json::array ranks;
  for (const plan::WorkerPlan& worker : plan.workers)
    ranks.emplace_back(rank_of(worker, plan, environment));
  json::object document{
      {"schema", kPlanSchema},
      {"ddprun", utf8(cli::version())},
      {"refusal", text_or_null(refusal)},
      {"host", utf8(plan.host)},
      {"world_size", plan.world_size},
      {"role", utf8(plan.role)},
      {"simulated_gpus", nullptr},
      {"rendezvous", rendezvous_of(plan.rendezvous)},
      {"environment", plan.workers.empty()
                          ? json::object()
                          : variables(environment.added(), plan.rendezvous.several_nodes())},
      {"ranks", std::move(ranks)},
      {"notices", texts(plan.notices)}};
  if (plan.simulated_gpus) document["simulated_gpus"] = *plan.simulated_gpus;
  return pretty(document);
}

}  // namespace ddprun::report
