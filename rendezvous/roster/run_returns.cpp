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
  if (node.member) {
    const MemberId old = *node.member;
    if (members_.at(old).join.pid != join.pid) return false;
    erase(members_.find(old));
    unheard_.erase(old);
    for (Challenger& each : challengers_)
      if (each.holder == old) each.holder = from.id;
    close({old}, "its agent has come back on another connection");
  }
  Member& member = admit(now, from, join);
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
  return true;
}

void Run::resume(Time now, const protocol::Held& held) {
  const std::size_t count = held.assignment.nodes.size();
  round_ = Round{.assignment = held.assignment,
                 .server = held.server,
                 .nodes = std::vector<RoundNode>(count, RoundNode{.away = true}),
                 .bytes = footprint(held.assignment) + count * sizeof(RoundNode)};
  next_round_ = held.assignment.round + 1;
  restarts_ = held.assignment.restarts;
  phase_ = Phase::resuming;
  since_ = now;
  back_by_ = now + terms_.reconnect_timeout;
}

// Whoever was stopping its workers when the server was lost has no place to come back to.
bool Run::joined_anew(std::size_t node_rank) const {
  const std::string& node = round_->assignment.nodes.at(node_rank).node;
  return std::ranges::any_of(members_, [&](const auto& each) {
    const Join& join = each.second.join;
    const bool same =
        join.node_rank ? *join.node_rank == static_cast<int>(node_rank) : join.node == node;
    return same && !each.second.node_rank;
  });
}

// The first of those who may still come back.
std::optional<std::size_t> Run::awaited() const {
  if (phase_ != Phase::settling && phase_ != Phase::resuming) return {};
  for (std::size_t i = 0; i < round_->nodes.size(); ++i)
    if (round_->nodes[i].away && (phase_ == Phase::resuming || !joined_anew(i))) return i;
  return {};
}

// Another ddprun is in the place of each that is away, so none of them comes back. By arrival
// somebody of the same name may be a second node of one host.
bool Run::are_replaced() const {
  if (phase_ != Phase::resuming || !terms_.static_ranks) return false;
  for (std::size_t i = 0; i < round_->nodes.size(); ++i)
    if (round_->nodes[i].away && !joined_anew(i)) return false;
  return true;
}

void Run::lose_who_stays_away(Time now) {
  const auto first = awaited();
  if (!first) return;
  const bool replaced = are_replaced();
  if (!replaced && now < back_by_) return;
  const std::string& node = round_->assignment.nodes.at(*first).node;
  Cause cause{
      .kind = Cause::Kind::node_lost,
      .text = called(node, static_cast<int>(*first)) + " is lost: " +
              (replaced ? "another ddprun came in its place"
                        : "it did not come back within " + span_text(terms_.reconnect_timeout)) +
              " after the server was lost",
      .node = node};
  last_failure_ = cause;
  const bool too_few = members_.size() < static_cast<std::size_t>(terms_.min_nodes);
  if (too_few && terms_.min_nodes == terms_.max_nodes && terms_.max_restarts == 0)
    return abort(cause, kExitNodeLost, cause.text);
  begin_forming(now, std::move(cause));
}

void Run::finish_resuming(Time now) {
  if (awaited()) return;
  phase_ = Phase::running;
  since_ = now;
}

std::vector<MissedPlace> Run::missed_places() const {
  std::vector<MissedPlace> missed;
  if (!awaited()) return missed;
  for (std::size_t i = 0; i < round_->nodes.size(); ++i)
    if (round_->nodes[i].away && !joined_anew(i))
      missed.push_back({round_->assignment.nodes[i].node, static_cast<int>(i)});
  return missed;
}

}  // namespace ddprun::roster
