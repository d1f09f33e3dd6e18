// Who comes back, and who does not.
#include <algorithm>
#include <utility>

#include "rendezvous/base/span_text.h"
#include "rendezvous/roster/footprint.h"
#include "rendezvous/roster/run.h"
#include "rendezvous/roster/run_limits.h"

namespace ddprun::roster {
namespace {

using protocol::Assignment;

bool same_round(const Assignment& a, const Assignment& b) {
  const auto id = &protocol::AssignedNode::member;
  return a.round == b.round && a.restarts == b.restarts && a.world_size == b.world_size &&
         a.store_host == b.store_host && a.store_port == b.store_port &&
         std::ranges::equal(a.nodes, b.nodes, {}, id, id);
}

}  // namespace

// What a returning agent shows is no more than its word.
bool Run::is_plausible(const Join& join) const {
  const auto& nodes = join.held->assignment.nodes;
  const auto place = protocol::place_of(join.held->assignment, join.held->member);
  const auto count = static_cast<int>(nodes.size());
  return place && nodes.at(static_cast<std::size_t>(place->node_rank)).node == join.node &&
         place->nproc == join.nproc && count >= terms_.min_nodes && count <= terms_.max_nodes;
}

// The agent of a node in the present round comes back on another connection, before its place was
// given up or with a server that is new.
bool Run::take_back(Time now, const Peer& from, const Join& join) {
  const bool in_round =
      phase_ == Phase::running || phase_ == Phase::settling || phase_ == Phase::resuming;
  if (!join.held || !in_round || join.held->server != round_->server ||
      !same_round(join.held->assignment, round_->assignment) || !is_plausible(join))
    return false;
  const int rank = protocol::place_of(join.held->assignment, join.held->member)->node_rank;
  RoundNode& node = round_->nodes.at(static_cast<std::size_t>(rank));
  bool challenged = false;
  if (node.member) {
    const MemberId old = *node.member;
    if (members_.at(old).join.pid != join.pid) return false;
    erase(members_.find(old));
    unheard_.erase(old);
    for (Challenger& each : challengers_) {
      if (each.holder != old) continue;
      each.holder = from.id;
      challenged = true;
    }
    close({old}, "its agent has come back on another connection");
  }
  Member& member = admit(now, from, join);
  member.newcomer = false;  // older agents do not say which run they were part of
  set_busy_round(member, round_->assignment.round);
  member.node_rank = rank;
  node.member = from.id;
  node.finished = node.finished || join.held->finished;
  if (phase_ == Phase::settling) {
    send({from.id}, protocol::Stop{.round = *member.busy_round, .why = failure_->cause.text},
         "a worker has failed meanwhile");
    // It may know of an earlier one, and says so before it answers.
    call_roll({from.id});
    if (std::exchange(node.away, false)) settle_by_ = now + kSettle;
  }
  node.away = false;
  if (challenged) ask(now, from.id);
  return true;
}

bool Run::takes(const protocol::Former& former) const {
  return former.run_directory == run_directory_ || (!adopted_ && !round_);
}

void Run::adopt(const protocol::Former& former) {
  if (former.run_directory == run_directory_ || !takes(former)) return;
  run_directory_ = former.run_directory;
  adopted_ = true;
  for (const auto& [id, member] : members_)
    welcome(id, "a node that came back says which run this is");
}

// What was counted before the server was lost.
void Run::learn(const protocol::Former& former) {
  if (round_ || former.server == server_.id || former.run_directory != run_directory_) return;
  if (former.round) next_round_ = std::max(next_round_, *former.round + 1);
  if (former.restarts)
    restarts_ = std::max(restarts_, std::min(*former.restarts, terms_.max_restarts));
}

void Run::resume(Time now, const protocol::Held& held) {
  // What this server has decided of a round of its own it knows itself.
  if (round_ || held.server == server_.id) return;
  const std::size_t count = held.assignment.nodes.size();
  round_ = Round{.assignment = held.assignment,
                 .server = held.server,
                 .nodes = std::vector<RoundNode>(count, RoundNode{.away = true}),
                 .bytes = footprint(held.assignment) + count * sizeof(RoundNode)};
  next_round_ = held.assignment.round + 1;
  restarts_ = held.assignment.restarts;
  begin_resuming(now);
}

void Run::await(Time now, RoundNode& node) {
  node.away = true;
  begin_resuming(now);
}

void Run::begin_resuming(Time now) {
  phase_ = Phase::resuming;
  since_ = now;
  back_within_ = terms_.reconnect_timeout;
  back_by_ = now + back_within_;
  taking_back_ = true;
}

// The same process, which was given this place, though it may not have heard of it.
Run::RoundNode* Run::place_of(const Join& join) {
  if (!round_ || join.pid == 0) return nullptr;
  for (std::size_t i = 0; i < round_->nodes.size(); ++i)
    if (round_->nodes[i].pid == join.pid && round_->assignment.nodes[i].node == join.node)
      return &round_->nodes[i];
  return nullptr;
}

// A process of the round that has joined without its place: the round is over, or has never begun
// there.
void Run::come_back(Time now, const Join& join) {
  RoundNode* place = place_of(join);
  if (place == nullptr || !place->away) return;
  if (phase_ == Phase::forming) {
    place->away = false;
    // All who are to be called are here.
    const bool all = std::ranges::none_of(round_->nodes, &RoundNode::away);
    if (all && now < all_back_by_) wants_last_call_ = false;
    return;
  }
  // Whoever was stopping its workers has begun it, and may not know yet why it ends.
  const int round = round_->assignment.round;
  const bool has_begun = join.held || (join.former && join.former->round.value_or(-1) >= round);
  if (phase_ != Phase::resuming || has_begun) return;
  place->away = false;
  begin_forming(now, {.kind = Cause::Kind::node_lost,
                      .text = "round " + std::to_string(round) + " had not begun on node " +
                              join.node + " when the server was lost",
                      .node = join.node});
}

// For one that still has workers of a round that is over.
protocol::Restart Run::restart_for(const Join& join) const {
  const int round = join.held->assignment.round;
  if (round_ && round_->ended_by && round_->ended_by->round == round) return *round_->ended_by;
  const std::string text =
      "node " + join.node + " lost its place when its connection was lost; it joins anew";
  return {.round = round,
          .cause = {.kind = Cause::Kind::node_lost, .text = text, .node = join.node},
          .restarts = restarts_,
          .max_restarts = terms_.max_restarts,
          .why = text};
}

// Has no place in the round, and would have this one.
bool Run::wants_place(const Member& member, std::size_t node_rank) const {
  if (member.node_rank) return false;
  const Join& join = member.join;
  return join.node_rank ? *join.node_rank == static_cast<int>(node_rank)
                        : join.node == round_->assignment.nodes.at(node_rank).node;
}

// Whoever was stopping its workers when the server was lost has no place to come back to.
bool Run::joined_anew(std::size_t node_rank) const {
  return std::ranges::any_of(members_,
                             [&](const auto& each) { return wants_place(each.second, node_rank); });
}

std::size_t Run::own_members() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(members_, [&](const auto& each) { return !is_stranger(each.second); }));
}

// The first of those who may still come back.
std::optional<std::size_t> Run::awaited() const {
  if (phase_ != Phase::settling && phase_ != Phase::resuming) return {};
  for (std::size_t i = 0; i < round_->nodes.size(); ++i)
    if (round_->nodes[i].away && (phase_ == Phase::resuming || !joined_anew(i))) return i;
  return {};
}

// One who is away and does not come back, so that it is no use to wait for the others: another
// ddprun is in its place, and in that of each of them where the job could go on without it. By
// arrival somebody of the same name may be a second node of one host, but not a whole job.
std::optional<std::size_t> Run::replaced() const {
  if (phase_ != Phase::resuming) return {};
  const std::size_t strangers = members_.size() - own_members();
  if (needs_all() && strangers >= static_cast<std::size_t>(terms_.min_nodes)) return awaited();
  if (!terms_.static_ranks || strangers == 0) return {};
  std::set<std::size_t> taken;
  for (const auto& [id, member] : members_)
    if (is_stranger(member)) taken.insert(static_cast<std::size_t>(*member.join.node_rank));
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < round_->nodes.size(); ++i) {
    if (!round_->nodes[i].away) continue;
    if (!taken.contains(i) && !needs_all()) return {};
    if (taken.contains(i) && !first) first = i;
  }
  return first;
}

void Run::lose_who_stays_away(Time now) {
  const auto other = replaced();
  const auto lost = other ? other : awaited();
  if (!lost || (!other && now < back_by_)) return;
  const std::string& node = round_->assignment.nodes.at(*lost).node;
  Cause cause{.kind = Cause::Kind::node_lost,
              .text = called(node, static_cast<int>(*lost)) + " is lost: " +
                      (other ? "another ddprun came in its place"
                             : "it did not come back within " + span_text(back_within_)) +
                      (round_->server == server_.id ? "" : " after the server was lost"),
              .node = node};
  last_failure_ = cause;
  const bool too_few = own_members() < static_cast<std::size_t>(terms_.min_nodes);
  if (too_few && needs_all()) return abort(cause, kExitNodeLost, cause.text);
  begin_forming(now, std::move(cause));
}

void Run::finish_resuming(Time now) {
  if (awaited()) return;
  phase_ = Phase::running;
  since_ = now;
  taking_back_ = false;
}

void Run::release_strangers() {
  if (server_.embedded) return;
  for (auto member = members_.begin(); member != members_.end();) {
    const auto each = member++;
    if (!is_stranger(each->second)) continue;
    strangers_.push_back({each->second.from, each->second.join});
    erase(each);
  }
  for (const Challenger& each : challengers_)
    if (!each.join.former) strangers_.push_back({each.from, each.join});
  std::erase_if(challengers_, [](const Challenger& each) { return !each.join.former; });
}

nanoseconds Run::longest_return() const {
  return std::min<nanoseconds>(terms_.reconnect_timeout, kMaxSilence) +
         terms_.ping_interval * terms_.ping_attempts;
}

}  // namespace ddprun::roster
