// What rdzvctl asks.
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <utility>

#include "rendezvous/roster/decisions.h"
#include "rendezvous/roster/runs.h"
#include "rendezvous/roster/wording.h"

namespace ddprun::roster {

std::optional<std::string> Runs::control_refusal(const Peer& from, const std::string& run,
                                                 const std::string& what) const {
  if (!from.trusted)
    return what +
           " is taken from the server's own host only, as long as the server has no token; this "
           "comes from " +
           from.address;
  if (!runs_.contains(run)) return "there is no run " + run + " here";
  return {};
}

Decision Runs::ask(Time now, const Peer& from, const protocol::AskStatus& question) {
  if (question.run && !runs_.contains(*question.run)) {
    const std::string why = "there is no run " + *question.run + " here";
    return answer(from.id, protocol::Refused{why}, why);
  }
  boost::json::array runs;
  for (const auto& [id, entry] : runs_) {
    if (question.run && *question.run != id) continue;
    runs.push_back(to_json(entry.run.snapshot(now), from.trusted));
  }
  return answer(from.id, protocol::StatusAnswer{std::move(runs)}, "rdzvctl asked for the status");
}

Decision Runs::ask(Time now, const Peer& from, const protocol::AskCancel& question) {
  if (const auto why = control_refusal(from, question.run, "cancel"))
    return answer(from.id, protocol::Refused{*why}, *why);
  const auto entry = runs_.find(question.run);
  const std::size_t told = entry->second.run.members();
  Decision decision = after(now, entry, entry->second.run.on_cancel(now, question.by));
  append(decision, answer(from.id,
                          protocol::CancelAnswer{"run " + question.run + " is cancelled; " +
                                                 count_text(told, "node") + " told"},
                          "rdzvctl cancelled the run"));
  return decision;
}

Decision Runs::ask(Time now, const Peer& from, const protocol::AskStacks& question) {
  if (const auto why = control_refusal(from, question.run, "stacks"))
    return answer(from.id, protocol::Refused{*why}, *why);
  const Run& run = runs_.find(question.run)->second.run;
  std::map<MemberId, std::string> awaited;
  std::vector<MemberId> to;
  for (const MemberId id : run.connections()) {
    const auto node = run.node_of(id);
    if (!node) continue;
    awaited.emplace(id, *node);
    to.push_back(id);
  }
  const std::uint64_t id = stacks_.begin(now, from.id, std::move(awaited));
  Decision decision;
  if (!to.empty())
    decision.effects.push_back(
        Send{std::move(to), protocol::TakeStacks{id}, "rdzvctl asked for the stacks"});
  finish_stacks(now, decision);
  return decision;
}

Decision Runs::take(MemberId from, const protocol::StacksDone& done) {
  stacks_.on_done(from, done);
  Decision decision;
  finish_stacks(Time::min(), decision);
  return decision;
}

void Runs::finish_stacks(Time now, Decision& decision) {
  for (auto& [asker, stacks] : stacks_.take_finished(now))
    append(decision, answer(asker, std::move(stacks), "the stacks are there"));
}

}  // namespace ddprun::roster
