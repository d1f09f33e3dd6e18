#include "rendezvous/roster/runs.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <utility>

#include "rendezvous/base/span_text.h"
#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/roster/footprint.h"
#include "rendezvous/roster/wording.h"

namespace ddprun::roster {
namespace {

using protocol::AgentMessage;

// About, of what a new run takes beside its first Join when its first round begins at once.
constexpr std::size_t kNewRun = sizeof(Run) + 1024;

void add(Decision& decision, MemberId to, protocol::ServerMessage message,
         const std::string& reason) {
  decision.effects.push_back(Send{{to}, std::move(message), reason});
}

// The last word to a connection.
Decision answer(MemberId to, protocol::ServerMessage message, const std::string& reason) {
  Decision decision;
  add(decision, to, std::move(message), reason);
  decision.effects.push_back(Close{{to}, reason});
  return decision;
}

void append(Decision& decision, Decision more) {
  std::ranges::move(more.effects, std::back_inserter(decision.effects));
}

// About, of what a failure keeps that it can do without. Its words are in its text too.
std::size_t details(const protocol::Failed& failed) {
  const std::size_t how = failed.how ? 2 * failed.how->size() : 0;
  return footprint(failed.lines) + how +
         (failed.absent.size() + failed.silent_too.size()) * sizeof(int);
}

// Whether a node that was started anew begins a run in the place of one without nodes. Where no
// round has begun yet it is one of those that are awaited.
bool is_another(const Run& run, const Join& join, Time now) {
  return run.deserted() && !run.awaits_all(now) && (run.has_begun() || conflict(run.terms(), join));
}

}  // namespace

Decision Runs::on_message(Time now, const Peer& from, const AgentMessage& message) {
  const auto it = run_of_.find(from.id);
  if (it == run_of_.end()) return complete(first(now, from, message));
  return complete(of_member(now, runs_.find(it->second), from.id, message));
}

// Whatever comes first, and whatever comes behind a question: each ends in a membership or in the
// end of the connection.
Decision Runs::first(Time now, const Peer& from, const AgentMessage& message) {
  if (stopping_) return answer(from.id, protocol::ServerStopping{*stopping_}, *stopping_);
  const auto asks = [&](const auto& each) { return each.second.asker == from.id; };
  if (std::erase_if(stacks_, asks) > 0) {
    const std::string why = "the last question on this connection is not answered yet";
    return answer(from.id, protocol::Refused{why}, why);
  }
  return std::visit(
      [&](const auto& each) {
        if constexpr (std::is_same_v<std::decay_t<decltype(each)>, Join>) {
          return join(now, from, each);
        } else if constexpr (requires { ask(now, from, each); }) {
          return ask(now, from, each);
        } else {
          const std::string why =
              "the first message is \"" + std::string(type_name(message)) + "\", join is needed";
          return answer(from.id, protocol::Refused{why}, why);
        }
      },
      message);
}

Decision Runs::of_member(Time now, Entries::iterator entry, MemberId from,
                         const AgentMessage& message) {
  if (const auto* done = std::get_if<protocol::StacksDone>(&message)) return take(from, *done);
  const auto pass = [&](const AgentMessage& each) {
    return after(now, entry, entry->second.run.on_message(now, from, each));
  };
  const auto fits = [&](std::size_t bytes) {
    return memory_bytes() + bytes <= options_.max_memory_bytes &&
           has_room_for(entry->second.begun_by, bytes);
  };
  const auto* started = std::get_if<protocol::Started>(&message);
  if (started != nullptr && !fits(footprint(started->workers)))
    return pass(protocol::Started{.round = started->round, .workers = {}});
  const auto* failed = std::get_if<protocol::Failed>(&message);
  // Kept twice: as what is to be settled, and as the last failure.
  if (failed == nullptr || fits(2 * details(*failed))) return pass(message);
  protocol::Failed bare = *failed;
  bare.lines.clear();
  bare.how.reset();
  bare.absent.clear();
  bare.silent_too.clear();
  return pass(bare);
}

Decision Runs::on_closed(Time now, MemberId connection, const std::string& how) {
  std::erase_if(stacks_, [&](const auto& each) { return each.second.asker == connection; });
  Decision decision;
  for (auto& [id, request] : stacks_) {
    const auto awaited = request.awaited.find(connection);
    if (awaited == request.awaited.end()) continue;
    request.answer.nodes.push_back({awaited->second, {}, how});
    request.awaited.erase(awaited);
  }
  if (const auto it = run_of_.find(connection); it != run_of_.end()) {
    const auto entry = runs_.find(it->second);
    run_of_.erase(it);
    append(decision, after(now, entry, entry->second.run.on_lost(now, connection, how)));
  }
  finish_stacks(now, decision);
  return complete(std::move(decision));
}

Decision Runs::on_time(Time now) {
  Decision decision;
  last_words_.on_time(now);
  std::vector<std::string> due;
  for (const auto& [at, run] : wakes_) {
    if (at > now) break;
    due.push_back(run);
  }
  for (const std::string& run : due) {
    const auto entry = runs_.find(run);
    if (entry == runs_.end()) continue;  // it had to make room for one of those before it
    append(decision, after(now, entry, entry->second.run.on_time(now)));
  }
  finish_stacks(now, decision);
  return complete(std::move(decision));
}

Decision Runs::shut_down(const std::string& why) {
  std::vector<MemberId> all;
  for (const auto& [id, run] : run_of_) all.push_back(id);
  std::ranges::sort(all);
  stopping_ = why;
  Decision decision;
  for (const auto& [id, request] : stacks_)
    append(decision, answer(request.asker, protocol::Refused{why}, why));
  if (!all.empty()) {
    decision.effects.push_back(Send{all, protocol::ServerStopping{why}, why});
    decision.effects.push_back(Close{std::move(all), why});
  }
  runs_.clear();
  run_of_.clear();
  wakes_.clear();
  stacks_.clear();
  shares_.clear();
  memory_ = 0;
  last_words_.clear();
  return decision;
}

std::vector<Snapshot> Runs::snapshots(Time now, std::size_t most, bool with_workers) const {
  std::vector<Snapshot> all;
  for (const auto& [id, entry] : runs_) {
    if (all.size() == most) break;
    all.push_back(entry.run.snapshot(now, with_workers));
  }
  return all;
}

std::optional<Snapshot> Runs::snapshot(Time now, const std::string& run) const {
  const auto entry = runs_.find(run);
  return entry == runs_.end() ? std::nullopt : std::optional(entry->second.run.snapshot(now));
}

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
  const Share share = share_of(network);
  const std::string all = "runs that " + network + " has begun on " + server_.host;
  if (begins && !network.empty() && share.runs >= std::max<std::size_t>(1, options_.max_runs / 2))
    return Refusal{"there are " + std::to_string(share.runs) + " " + all + ", and half of " +
                       std::to_string(options_.max_runs) + " is all that one address gets",
                   Want::room_of_its_own};
  if (has_room_for(network, footprint(join) + (begins ? kNewRun : 0))) return {};
  return Refusal{"the " + all + " take " + std::to_string(share.bytes) + " bytes; half of " +
                     std::to_string(options_.max_memory_bytes) +
                     " is all that one address gets (max_memory_bytes)",
                 Want::room_of_its_own};
}

Runs::Share Runs::share_of(const std::string& network) const {
  const auto found = shares_.find(network);
  return found == shares_.end() ? Share{} : found->second;
}

// In the runs that this network has begun.
bool Runs::has_room_for(const std::string& network, std::size_t bytes) const {
  return network.empty() || share_of(network).bytes + bytes <= options_.max_memory_bytes / 2;
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

Decision Runs::join(Time now, const Peer& from, const Join& join) {
  if (const auto* word = last_words_.find(join))
    return answer(from.id, *word, "its run has ended while it was cut off");
  if (const auto why = stale(join)) return answer(from.id, protocol::Refused{*why}, *why);
  auto entry = runs_.find(join.run);
  if (entry != runs_.end() && !join.former && is_another(entry->second.run, join, now))
    forget(entry);
  auto why = refusal(now, from, join);
  while (why && make_room(why->want, from, join)) why = refusal(now, from, join);
  if (why) return answer(from.id, protocol::Refused{why->why}, why->why);
  entry = runs_.find(join.run);
  if (entry == runs_.end()) {
    const std::string directory = server_.id + "-" + std::to_string(++begun_);
    entry = runs_
                .emplace(join.run,
                         Entry{.run = Run(server_, join, directory, now), .begun_by = from.network})
                .first;
    ++shares_[from.network].runs;
    embedded_run_ = join.run;
  }
  run_of_[from.id] = join.run;
  return after(now, entry, entry->second.run.on_join(now, from, join));
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
bool Runs::make_room(Want want, const Peer& from, const Join& join) {
  if (want == Want::nothing) return false;
  auto first = runs_.end();
  for (auto entry = runs_.begin(); entry != runs_.end(); ++entry) {
    if (entry->first == join.run || !entry->second.run.deserted()) continue;
    if (want == Want::room_of_its_own && entry->second.begun_by != from.network) continue;
    if (first == runs_.end() || entry->second.wake_at < first->second.wake_at) first = entry;
  }
  if (first == runs_.end()) return false;
  forget(first);
  return true;
}

// A run without connections.
void Runs::forget(Entries::iterator entry) {
  if (entry->second.wake_at) wakes_.erase({*entry->second.wake_at, entry->first});
  erase(entry);
}

void Runs::erase(Entries::iterator entry) {
  memory_ -= entry->second.bytes;
  const auto share = shares_.find(entry->second.begun_by);
  share->second.bytes -= entry->second.bytes;
  if (--share->second.runs == 0) shares_.erase(share);
  if (server_.durable) changes_["runs/" + entry->first].reset();
  runs_.erase(entry);
}

// Forgets whom a run has closed, and the run itself when it is over.
Decision Runs::after(Time now, Entries::iterator entry, Decision decision) {
  for (const Effect& effect : decision.effects)
    if (const auto* close = std::get_if<Close>(&effect))
      for (const MemberId id : close->members) run_of_.erase(id);
  if (entry->second.wake_at) wakes_.erase({*entry->second.wake_at, entry->first});
  entry->second.wake_at = decision.wake_at;
  if (decision.wake_at) wakes_.insert({*decision.wake_at, entry->first});
  const std::size_t bytes = entry->second.run.over() ? 0 : entry->second.run.memory_bytes();
  const std::size_t before = std::exchange(entry->second.bytes, bytes);
  memory_ += bytes - before;
  shares_[entry->second.begun_by].bytes += bytes - before;
  note_change(entry);
  if (entry->second.run.over()) append(decision, over(now, entry));
  return decision;
}

Decision Runs::over(Time now, Entries::iterator entry) {
  Run& run = entry->second.run;
  if (run.last_word() && !server_.embedded)
    last_words_.keep(entry->first, run.run_directory(), *run.last_word(),
                     now + run.longest_return());
  const std::vector<Arrival> strangers = run.take_strangers();
  erase(entry);
  Decision decision;
  for (const Arrival& each : strangers) {
    run_of_.erase(each.from.id);
    append(decision, join(now, each.from, each.join));
  }
  return decision;
}

Decision Runs::restore(Time now, const std::vector<protocol::Record>& records) {
  Decision decision;
  for (const protocol::Record& record : records) {
    if (const auto* end = std::get_if<protocol::EndRecord>(&record)) {
      protocol::ServerMessage word =
          end->abort ? protocol::ServerMessage(*end->abort) : protocol::ServerMessage(*end->closed);
      last_words_.keep(end->run, end->run_directory, std::move(word), now + end->keep);
      continue;
    }
    const auto& run = std::get<protocol::RunRecord>(record);
    const auto [entry, is_new] = runs_.emplace(run.terms.run, Entry{Run(server_, run, now), {}});
    if (!is_new) continue;
    ++shares_[entry->second.begun_by].runs;
    entry->second.written = entry->second.run.mark();
    append(decision, after(now, entry, entry->second.run.on_time(now)));
  }
  return complete(std::move(decision));
}

void Runs::note_change(Entries::iterator entry) {
  if (!server_.durable) return;
  const Run& run = entry->second.run;
  if (run.over()) return note_end(entry->first, run);
  if (entry->second.written == run.mark()) return;
  entry->second.written = run.mark();
  changes_["runs/" + entry->first] = protocol::encode(protocol::Record(run.record()));
}

void Runs::note_end(const std::string& run, const Run& over) {
  changes_["runs/" + run].reset();
  if (!over.last_word()) return;
  protocol::EndRecord end{
      .run = run, .run_directory = over.run_directory(), .keep = over.longest_return()};
  if (const auto* abort = std::get_if<protocol::Abort>(&*over.last_word())) end.abort = *abort;
  if (const auto* closed = std::get_if<protocol::Closed>(&*over.last_word())) end.closed = *closed;
  changes_["ended/" + over.run_directory()] = protocol::encode(protocol::Record(std::move(end)));
}

Decision Runs::complete(Decision decision) {
  set_wake(decision);
  for (const std::string& directory : last_words_.take_forgotten())
    if (server_.durable) changes_["ended/" + directory].reset();
  for (auto& [key, value] : changes_) decision.changes.push_back({key, std::move(value)});
  changes_.clear();
  return decision;
}

void Runs::set_wake(Decision& decision) const {
  decision.wake_at.reset();
  if (!wakes_.empty()) decision.wake_at = wakes_.begin()->first;
  if (const auto at = last_words_.wake_at())
    decision.wake_at = std::min(decision.wake_at.value_or(*at), *at);
  for (const auto& [id, request] : stacks_)
    decision.wake_at = std::min(decision.wake_at.value_or(request.until), request.until);
}

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
  StacksRequest request{.asker = from.id, .until = now + options_.stacks_timeout};
  const Run& run = runs_.find(question.run)->second.run;
  std::vector<MemberId> to;
  for (const MemberId id : run.connections()) {
    const auto node = run.node_of(id);
    if (!node) continue;
    request.awaited.emplace(id, *node);
    to.push_back(id);
  }
  const std::uint64_t id = ++last_stacks_;
  stacks_.emplace(id, std::move(request));
  Decision decision;
  if (!to.empty())
    decision.effects.push_back(
        Send{std::move(to), protocol::TakeStacks{id}, "rdzvctl asked for the stacks"});
  finish_stacks(now, decision);
  return decision;
}

Decision Runs::take(MemberId from, const protocol::StacksDone& done) {
  const auto request = stacks_.find(done.id);
  if (request == stacks_.end()) return {};
  const auto awaited = request->second.awaited.find(from);
  if (awaited == request->second.awaited.end()) return {};
  request->second.answer.nodes.push_back({awaited->second, done.path, done.failed});
  request->second.awaited.erase(awaited);
  Decision decision;
  finish_stacks(Time::min(), decision);
  return decision;
}

void Runs::finish_stacks(Time now, Decision& decision) {
  for (auto it = stacks_.begin(); it != stacks_.end();) {
    StacksRequest& request = it->second;
    if (!request.awaited.empty() && now < request.until) {
      ++it;
      continue;
    }
    for (const auto& [id, node] : request.awaited)
      request.answer.nodes.push_back(
          {node, {}, "it did not answer within " + span_text(options_.stacks_timeout)});
    append(decision, answer(request.asker, std::move(request.answer), "the stacks are there"));
    it = stacks_.erase(it);
  }
}

}  // namespace ddprun::roster
