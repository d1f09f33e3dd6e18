// Who comes and goes.
#include <algorithm>
#include <utility>

#include "rendezvous/base/span_text.h"
#include "rendezvous/roster/footprint.h"
#include "rendezvous/roster/run.h"
#include "rendezvous/roster/run_limits.h"

namespace ddprun::roster {
namespace {

std::string who(const Join& join, const std::string& address) {
  return "node " + join.node + " (" + address + ", pid " + std::to_string(join.pid) + ")";
}

}  // namespace

void Run::join(Time now, const Peer& from, const Join& join) {
  if (const auto why = conflict(terms_, join)) {
    send({from.id}, protocol::Refused{*why}, "its options do not fit the run");
    return close({from.id}, "it was refused");
  }
  const auto holder = holder_of(join.node_rank);
  if (join.former) adopt(*join.former);
  if (join.former) learn(*join.former);
  if (join.held && !holder && is_plausible(join)) resume(now, *join.held);
  if (take_back(now, from, join)) return;
  if (holder) {
    challengers_.push_back({from, join, *holder});
    return ask(now, *holder);
  }
  Member& member = admit(now, from, join);
  if (join.held) {
    set_busy_round(member, join.held->assignment.round);
    next_round_ = std::max(next_round_, *member.busy_round + 1);
    send({from.id}, restart_for(join), "it still has workers of a round that went on without it");
  }
  come_back(now, join);
  ask_namesakes(now, from.id, join);
}

// The member that wants this node rank as well, and came first.
std::optional<MemberId> Run::holder_of(std::optional<int> node_rank) const {
  if (!node_rank) return {};
  const auto holder = std::ranges::find_if(
      members_, [&](const auto& each) { return each.second.join.node_rank == node_rank; });
  return holder == members_.end() ? std::nullopt : std::optional(holder->first);
}

Run::Member& Run::admit(Time now, const Peer& from, const Join& join) {
  Member& member =
      members_
          .insert_or_assign(
              from.id, Member{.join = join, .from = from, .heard = now, .newcomer = !join.former})
          .first->second;
  member.join.held.reset();
  count(member);
  ++names_[join.node];
  changed_ = true;
  welcome(from.id, "node " + join.node + " has joined run " + terms_.run);
  return member;
}

void Run::welcome(MemberId id, const std::string& reason) {
  send({id},
       protocol::Welcome{.member = id,
                         .server = server_.id,
                         .embedded = server_.embedded,
                         .server_host = server_.host,
                         .server_version = server_.version,
                         .ping_interval = terms_.ping_interval,
                         .ping_attempts = terms_.ping_attempts,
                         .run_directory = run_directory_},
       reason);
}

void Run::count(Member& member) {
  member_bytes_ -= member.bytes;
  member.bytes = sizeof(Members::value_type) + footprint(member.join) - sizeof(Join) +
                 footprint(member.workers) + sizeof(Names::value_type) + member.join.node.size();
  member_bytes_ += member.bytes;
}

void Run::set_busy_round(Member& member, std::optional<int> round) {
  if (member.busy_round) --busy_;
  member.busy_round = round;
  if (member.busy_round) ++busy_;
}

void Run::erase(Members::iterator member) {
  set_busy_round(member->second, {});
  asked_.erase(member->first);
  const auto name = names_.find(member->second.join.node);
  if (--name->second == 0) names_.erase(name);
  member_bytes_ -= member->second.bytes;
  members_.erase(member);
}

// A node that was cut off without a reset comes back as another process under the same name, long
// before its old self is silent for long enough. Many agents of one name on one host are fine, so
// the old ones only have to show that they are alive.
void Run::ask_namesakes(Time now, MemberId newcomer, const Join& join) {
  if (names_.at(join.node) == 1) return;
  for (auto& [id, member] : members_) {
    const bool namesake = id != newcomer && member.join.node == join.node;
    if (namesake && now - member.heard > kAnswer) ask(now, id);
  }
}

void Run::ask(Time now, MemberId id) {
  Member& member = members_.at(id);
  if (member.ask) return;
  member.ask = ++last_ping_;
  asked_.insert(id);
  member.answer_by = now + kAnswer;
  send({id}, protocol::Ping{*member.ask}, "another ddprun claims to be this node");
}

void Run::answered(MemberId id) {
  Member& member = members_.at(id);
  member.ask.reset();
  asked_.erase(id);
  for (const Challenger& each : challengers_) {
    if (each.holder != id) continue;
    const std::string rank = std::to_string(*member.join.node_rank);
    send({each.from.id},
         protocol::Refused{"node rank " + rank + " of run " + terms_.run +
                           " is taken: " + who(member.join, member.from.address) + " has it, " +
                           who(each.join, each.from.address) +
                           " wants it too: give each node its own --node-rank, and each job "
                           "its own port"},
         "its node rank is taken by a node that answers");
    close({each.from.id}, "it was refused");
  }
  std::erase_if(challengers_, [&](const Challenger& each) { return each.holder == id; });
}

void Run::lose(Time now, MemberId id, Cause::Kind kind, const std::string& how) {
  const auto it = members_.find(id);
  if (it == members_.end() || phase_ == Phase::over) return;
  const std::string node = it->second.join.node;
  std::string text = called(node, it->second.node_rank);
  erase(it);
  unheard_.erase(id);
  changed_ = true;
  if (may_return(kind)) return_by_ = now + longest_return();
  if (kind == Cause::Kind::node_left) {
    text += " left: " + how;
  } else if (kind == Cause::Kind::misused) {
    text += " broke the roster protocol: " + how;
  } else {
    text += " is lost: " + how;
  }
  on_node_gone(now, id, {.kind = kind, .text = std::move(text), .node = node});
  if (phase_ != Phase::over) admit_challengers(now, id);
}

std::string Run::called(const std::string& node, std::optional<int> node_rank) const {
  return "node " + name_of(node, node_rank);
}

std::string Run::name_of(const std::string& node, std::optional<int> node_rank) const {
  const auto same = [&](const protocol::AssignedNode& each) { return each.node == node; };
  const bool unique = !round_ || std::ranges::count_if(round_->assignment.nodes, same) < 2;
  if (unique || !node_rank) return node;
  return node + " (node rank " + std::to_string(*node_rank) + ")";
}

void Run::admit_challengers(Time now, MemberId holder) {
  std::vector<Challenger> admitted;
  std::erase_if(challengers_, [&](Challenger& each) {
    if (each.holder != holder) return false;
    admitted.push_back(std::move(each));
    return true;
  });
  for (const Challenger& each : admitted) join(now, each.from, each.join);
}

void Run::misuse(Time now, MemberId id, const std::string& what) {
  send({id}, protocol::Refused{"the agent broke the roster protocol: " + what}, what);
  close({id}, what);
  lose(now, id, Cause::Kind::misused, what);
}

bool Run::has_just_slept(Time now) {
  if (now > next_keep_alive_ + terms_.ping_interval) woke_ = now;
  return woke_ && now - *woke_ < kSettle;
}

void Run::keep_alive(Time now) {
  if (now < next_keep_alive_ || phase_ == Phase::over) return;
  // A server that was stopped itself cannot tell who was silent.
  const bool slept = has_just_slept(now);
  next_keep_alive_ = now + terms_.ping_interval;
  std::vector<MemberId> asked;
  std::vector<MemberId> silent;
  for (auto& [id, member] : members_) {
    if (slept) member.unanswered = 0;
    (member.unanswered < terms_.ping_attempts ? asked : silent).push_back(id);
    ++member.unanswered;
  }
  send(std::move(asked), protocol::Ping{++last_ping_}, "keep-alive");
  for (const MemberId id : silent) {
    if (!members_.contains(id)) continue;  // with the one before it the run has ended
    close({id}, "it did not answer " + count_text(terms_.ping_attempts, "ping"));
    lose(now, id, Cause::Kind::node_lost,
         "it did not answer " + count_text(terms_.ping_attempts, "ping") + " within " +
             span_text(terms_.ping_interval * terms_.ping_attempts));
  }
}

void Run::drop_silent(Time now) {
  std::vector<MemberId> silent;
  for (const MemberId id : asked_)
    if (now >= members_.at(id).answer_by) silent.push_back(id);
  for (const MemberId id : silent) {
    if (!members_.contains(id)) continue;  // as above
    close({id}, "it did not answer, and another ddprun claims to be this node");
    lose(now, id, Cause::Kind::node_lost,
         "it did not answer within " + span_text(kAnswer) +
             ", and another ddprun came as this node");
  }
}

}  // namespace ddprun::roster
