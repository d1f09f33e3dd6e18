#include "launcher/report/plan_json.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <vector>

#include "launcher/cli/version.h"
#include "launcher/plan/command.h"
#include "launcher/plan/place.h"
#include "launcher/plan/wording.h"
#include "launcher/plan/worker_environment.h"
#include "launcher/report/json_text.h"

namespace ddprun::report {
namespace {

namespace json = boost::json;

// Null is what is chosen at the start.
json::object variables(const std::vector<std::string>& entries) {
  json::object object;
  for (const std::string& entry : entries) {
    const std::string name(cli::variable_name(entry));
    const std::string value = entry.substr(std::min(entry.size(), name.size() + 1));
    const bool later =
        (name == "MASTER_PORT" && value == "0") ||
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

json::object rank_of(const plan::WorkerPlan& worker, const std::string& host,
                     const plan::WorkerEnvironment& environment) {
  return {{"rank", worker.rank},
          {"local_rank", worker.local_rank},
          {"device", utf8(plan::device_text(worker))},
          {"gpu", gpu_of(worker)},
          {"cpus", text_or_null(plan::cpus_text(worker))},
          {"numa_nodes", nodes_of(worker)},
          {"command", texts(plan::command_line(worker, host, 0))},
          {"environment", variables(environment.own(worker, ""))}};
}

}  // namespace

std::string plan_json(const plan::LaunchPlan& plan, const plan::Meeting& meeting,
                      const cli::Environment& parent, const std::string& refusal) {
  const plan::WorkerEnvironment environment(plan, meeting, parent);
  json::array ranks;
  for (const plan::WorkerPlan& worker : plan.workers)
    ranks.emplace_back(rank_of(worker, plan.host, environment));
  json::object document{
      {"schema", kPlanSchema},
      {"ddprun", utf8(cli::version())},
      {"refusal", text_or_null(refusal)},
      {"host", utf8(plan.host)},
      {"world_size", plan.world_size},
      {"role", utf8(plan.role)},
      {"simulated_gpus", nullptr},
      {"environment", plan.workers.empty() ? json::object() : variables(environment.added())},
      {"ranks", std::move(ranks)},
      {"notices", texts(plan.notices)}};
  if (plan.simulated_gpus) document["simulated_gpus"] = *plan.simulated_gpus;
  return pretty(document);
}

}  // namespace ddprun::report
