#include "rendezvous/roster/runs.h"

#include <algorithm>
#include <utility>

#include "rendezvous/protocol/roster_codec.h"
#include "rendezvous/roster/decisions.h"
#include "rendezvous/roster/footprint.h"

namespace ddprun::roster {
namespace {

using protocol::AgentMessage;

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
  if (stacks_.forget(from.id)) {
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
  stacks_.on_closed(connection, how);
  Decision decision;
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
  for (const MemberId asker : stacks_.askers())
    append(decision, answer(asker, protocol::Refused{why}, why));
  if (!all.empty()) {
    decision.effects.push_back(Send{all, protocol::ServerStopping{why}, why});
    decision.effects.push_back(Close{std::move(all), why});
  }
  runs_.clear();
  run_of_.clear();
  wakes_.clear();
  stacks_.clear();
  shares_.clear();
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

Decision Runs::join(Time now, const Peer& from, const Join& join) {
  if (const auto* word = last_words_.find(join))
    return answer(from.id, *word, "its run has ended while it was cut off");
  if (const auto why = stale(join)) return answer(from.id, protocol::Refused{*why}, *why);
  auto entry = runs_.find(join.run);
  if (entry != runs_.end() && !join.former && is_another(entry->second.run, join, now))
    forget(entry);
  auto why = refusal(now, from, join);
  while (why && make_room(*why, join)) why = refusal(now, from, join);
  if (why) return answer(from.id, protocol::Refused{why->why}, why->why);
  entry = runs_.find(join.run);
  if (entry == runs_.end()) {
    const std::string directory = server_.id + "-" + std::to_string(++begun_);
    entry = begin(join.run, Run(server_, join, directory, now), from.network);
    embedded_run_ = join.run;
  }
  run_of_[from.id] = join.run;
  return after(now, entry, entry->second.run.on_join(now, from, join));
}

// There is none of that id.
Runs::Entries::iterator Runs::begin(const std::string& id, Run run, const std::string& network) {
  shares_.begin(network);
  return runs_.emplace(id, Entry{.run = std::move(run), .begun_by = network}).first;
}

// A run without connections.
void Runs::forget(Entries::iterator entry) {
  if (entry->second.wake_at) wakes_.erase({*entry->second.wake_at, entry->first});
  erase(entry);
}

void Runs::erase(Entries::iterator entry) {
  shares_.end(entry->second.begun_by, entry->second.bytes);
  changes_.forget(entry->first);
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
  if (entry->second.run.over()) {
    append(decision, over(now, entry));
    return decision;
  }
  const std::size_t bytes = entry->second.run.memory_bytes();
  shares_.change(entry->second.begun_by, std::exchange(entry->second.bytes, bytes), bytes);
  changes_.note(entry->second.run, entry->second.begun_by, entry->second.written);
  return decision;
}

Decision Runs::over(Time now, Entries::iterator entry) {
  Run& run = entry->second.run;
  if (run.last_word() && !server_.embedded)
    last_words_.keep(entry->first, run.run_directory(), *run.last_word(),
                     now + run.longest_return());
  changes_.note_end(run);
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
    if (runs_.contains(run.terms.run)) continue;
    const auto entry = begin(run.terms.run, Run(server_, run, now), run.begun_by.value_or(""));
    entry->second.written = entry->second.run.mark();
    append(decision, after(now, entry, entry->second.run.on_time(now)));
  }
  return complete(std::move(decision));
}

Decision Runs::complete(Decision decision) {
  set_wake(decision);
  for (const std::string& directory : last_words_.take_forgotten()) changes_.forget_end(directory);
  decision.changes = changes_.take();
  return decision;
}

void Runs::set_wake(Decision& decision) const {
  decision.wake_at.reset();
  if (!wakes_.empty()) decision.wake_at = wakes_.begin()->first;
  for (const auto& at : {last_words_.wake_at(), stacks_.wake_at()})
    if (at) decision.wake_at = std::min(decision.wake_at.value_or(*at), *at);
}

}  // namespace ddprun::roster
