// Who may begin a run, or join one: what there is no room for, and for whom others make room.
#include <algorithm>

#include "rendezvous/base/span_text.h"
#include "rendezvous/roster/footprint.h"
#include "rendezvous/roster/runs.h"

namespace ddprun::roster {
namespace {

// About, of what a new run takes beside its first Join when its first round begins at once.
constexpr std::size_t kNewRun = sizeof(Run) + 1024;
// About, of what a member takes beside its Join.
constexpr std::size_t kNewMember = 256;

}  // namespace

std::optional<Runs::Refusal> Runs::refusal(Time now, const Peer& from, const Join& join) const {
  const auto entry = runs_.find(join.run);
  if (entry != runs_.end()) {
    if (entry->second.run.number_of_connections() >= options_.max_members)
      return Refusal{"run " + join.run + " has " + std::to_string(options_.max_members) +
                     " nodes, which is all that this server takes"};
    if (auto why = memory_refusal(join, entry->second.bytes)) return why;
    return share_refusal(entry->second.begun_by, join);
  }
  if (server_.embedded && embedded_run_) {
    const auto own = runs_.find(*embedded_run_);
    if (own == runs_.end())
      return Refusal{"run " + *embedded_run_ + ", which this ddprun served, has ended"};
    return Refusal{
        "this endpoint belongs to run " + *embedded_run_ + ", started " +
        span_text(own->second.run.age(now)) + " ago by node " + own->second.run.terms().node +
        " on " + server_.host + "; node " + join.node + " wants run " + join.run +
        ": give all nodes of one job the same --rdzv-id, and another job another endpoint"};
  }
  if (!server_.embedded && join.run == "none")
    return Refusal{"rdzvd on " + server_.host +
                   " serves many runs and cannot tell which one is meant: "
                   "give all nodes of the job the same --rdzv-id"};
  if (runs_.size() >= options_.max_runs)
    return Refusal{"rdzvd on " + server_.host + " serves " + std::to_string(options_.max_runs) +
                       " runs, which is all that it takes",
                   Want::room};
  if (auto why = memory_refusal(join, 0)) return why;
  return share_refusal(from.network, join);
}

// So that no address keeps all others out.
std::optional<Runs::Refusal> Runs::share_refusal(const std::string& network,
                                                 const Join& join) const {
  const bool begins = !runs_.contains(join.run);
  const Shares::Share share = shares_.of(network);
  const std::string all = "runs that " + network + " has begun on " + server_.host;
  if (begins && !network.empty() && share.runs >= std::max<std::size_t>(1, options_.max_runs / 2))
    return Refusal{"there are " + std::to_string(share.runs) + " " + all + ", and half of " +
                       std::to_string(options_.max_runs) + " is all that one address gets",
                   Want::room_of_network, network};
  if (has_room_for(network, footprint(join) + (begins ? kNewRun : kNewMember))) return {};
  return Refusal{"the " + all + " take " + std::to_string(share.bytes) + " bytes; half of " +
                     std::to_string(options_.max_memory_bytes) +
                     " is all that one address gets (max_memory_bytes)",
                 Want::room_of_network, network};
}

// In the runs that this network has begun.
bool Runs::has_room_for(const std::string& network, std::size_t bytes) const {
  return network.empty() || shares_.of(network).bytes + bytes <= options_.max_memory_bytes / 2;
}

std::optional<Runs::Refusal> Runs::memory_refusal(const Join& join, std::size_t of_run) const {
  const std::size_t more = footprint(join) + (of_run == 0 ? kNewRun : 0);
  const std::string all = std::to_string(options_.max_memory_bytes);
  if (of_run + more > options_.max_memory_bytes / 2)
    return Refusal{"run " + join.run + " takes " + std::to_string(of_run) +
                   " bytes of the server on " + server_.host + "; half of its " + all +
                   " is all that one run gets"};
  if (memory_bytes() + more > options_.max_memory_bytes)
    return Refusal{"the runs of the server on " + server_.host + " take " +
                       std::to_string(memory_bytes()) + " bytes, of " + all +
                       " that they may (max_memory_bytes)",
                   Want::room};
  return {};
}

// It was part of a run that is not the present one of its id, and has workers of it, or had.
std::optional<std::string> Runs::stale(const Join& join) const {
  if (!join.former) return {};
  const auto entry = runs_.find(join.run);
  const bool here = entry != runs_.end();
  if (here && entry->second.run.run_directory() == join.former->run_directory) return {};
  if (join.former->server == server_.id)
    return "run " + join.run + ", which node " + join.node +
           " was part of, has ended while it was cut off";
  if (!here || entry->second.run.takes(*join.former)) return {};
  return "node " + join.node + " was part of a run " + join.run +
         " that the server lost when it was restarted; nodes that were started anew have begun "
         "run " +
         join.run + " since";
}

// Whoever is there comes before those who may come back: of these, who has been away for longest.
bool Runs::make_room(const Refusal& refusal, const Join& join) {
  if (refusal.want == Want::nothing) return false;
  auto first = runs_.end();
  for (auto entry = runs_.begin(); entry != runs_.end(); ++entry) {
    if (entry->first == join.run || !entry->second.run.deserted()) continue;
    if (refusal.want == Want::room_of_network && entry->second.begun_by != refusal.network)
      continue;
    if (first == runs_.end() || entry->second.wake_at < first->second.wake_at) first = entry;
  }
  if (first == runs_.end()) return false;
  forget(first);
  return true;
}

}  // namespace ddprun::roster
