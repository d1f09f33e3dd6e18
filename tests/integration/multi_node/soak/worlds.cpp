#include "tests/integration/multi_node/soak/worlds.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace ddprun::nodes_soak {
namespace {

std::string wrong_with_one(const Scenario& scenario, const std::vector<Met>& world) {
  const Met& first = world.front();
  const std::string name = "the world of rank " + std::to_string(first.rank) + " on " +
                           node_name(first.node) + " in restart " + std::to_string(first.restarts);
  std::set<int> ranks;
  std::map<int, int> first_rank;  // by node
  for (const Met& each : world) {
    const std::string rank = "rank " + std::to_string(each.rank);
    if (each.world != first.world) return name + " has two sizes";
    if (each.restarts != first.restarts) return name + " has two numbers of restarts";
    if (each.rank < 0 || each.rank >= each.world) return name + " has " + rank;
    if (!ranks.insert(each.rank).second) return name + " has " + rank + " twice";
    const auto [at, is_new] = first_rank.try_emplace(each.node, each.rank - each.local_rank);
    if (at->second != each.rank - each.local_rank || at->second % scenario.workers != 0)
      return name + ": " + rank + " is not beside the others of " + node_name(each.node);
  }
  if (first.world % scenario.workers != 0 || first.world > kNodes * scenario.workers ||
      first.world < scenario.min_nodes * scenario.workers)
    return name + " has " + std::to_string(first.world) + " ranks";
  if (first.restarts > scenario.restarts)
    return name + " is one too many: there are " + std::to_string(scenario.restarts);
  return "";
}

std::vector<Met> with_token(const std::vector<Met>& all, const std::string& token) {
  std::vector<Met> found;
  std::ranges::copy_if(all, std::back_inserter(found),
                       [&](const Met& each) { return each.token == token; });
  return found;
}

}  // namespace

std::vector<Met> parse(const std::string& lines) {
  std::vector<Met> all;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    Met met;
    if (words >> met.token >> met.world >> met.rank >> met.local_rank >> met.node >> met.restarts >>
        met.pid)
      all.push_back(met);
  }
  return all;
}

std::vector<Met> last_world(const std::vector<Met>& all) {
  if (all.empty()) return {};
  // Somebody who was slow may write behind the first of the next one.
  std::vector<std::string> order;
  for (const Met& each : all)
    if (std::ranges::find(order, each.token) == order.end()) order.push_back(each.token);
  return with_token(all, order.back());
}

bool is_complete(const std::vector<Met>& all) {
  const auto last = last_world(all);
  return !last.empty() && static_cast<int>(last.size()) == last.front().world;
}

std::string wrong_with_worlds(const Scenario& scenario, const std::vector<Met>& all,
                              bool ended_well) {
  std::set<std::string> seen;
  int restarts = 0;
  for (const Met& each : all) {
    if (!seen.insert(each.token).second) continue;
    const auto wrong = wrong_with_one(scenario, with_token(all, each.token));
    if (!wrong.empty()) return wrong;
    // Of a node that is lost a failure may be, and then it is given back.
    if (each.restarts < restarts - 1) return "restarts were given back";
    restarts = each.restarts;
  }
  if (ended_well && !is_complete(all))
    return "the job ended with 0, but not all ranks of its last world have met";
  return "";
}

}  // namespace ddprun::nodes_soak
