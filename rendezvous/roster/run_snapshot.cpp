#include <algorithm>

#include "rendezvous/roster/run.h"

namespace ddprun::roster {

Snapshot Run::snapshot(Time now, bool with_workers) const {
  Snapshot all{.run = terms_.run,
               .age = now - began_,
               .in_state = now - since_,
               .restarts = restarts_,
               .max_restarts = terms_.max_restarts,
               .min_nodes = terms_.min_nodes,
               .max_nodes = terms_.max_nodes,
               .last_failure = last_failure_,
               .run_directory = run_directory_};
  const bool stopping = phase_ == Phase::settling || phase_ == Phase::forming;
  const bool in_round = round_ && phase_ != Phase::forming;
  if (phase_ == Phase::running) all.state = Snapshot::State::running;
  if (phase_ == Phase::settling) all.state = Snapshot::State::stopping;
  if (phase_ == Phase::resuming) all.state = Snapshot::State::resuming;
  if (phase_ == Phase::forming) all.missing = who_is_missing(gathering(now));
  if (round_) all.round = round_->assignment.round;
  if (in_round) {
    all.world_size = round_->assignment.world_size;
    all.store = round_->assignment.store_host + ":" + std::to_string(round_->assignment.store_port);
  }
  const auto describe = [&](const Member& member, NodeSnapshot& node) {
    node.node = member.join.node;
    node.address = member.from.address;
    node.pid = member.join.pid;
    node.nproc = member.join.nproc;
    if (with_workers) node.workers = member.workers;
    node.heard_ago = now - member.heard;
  };
  using State = NodeSnapshot::State;
  int first_rank = 0;
  for (std::size_t i = 0; in_round && i < round_->nodes.size(); ++i) {
    const protocol::AssignedNode& assigned = round_->assignment.nodes[i];
    NodeSnapshot node{.node = assigned.node,
                      .state = State::away,
                      .nproc = assigned.nproc,
                      .node_rank = static_cast<int>(i),
                      .first_rank = first_rank};
    first_rank += assigned.nproc;
    if (round_->nodes[i].member) {
      describe(members_.at(*round_->nodes[i].member), node);
      node.state = stopping ? State::stopping : State::working;
      if (round_->nodes[i].finished) node.state = State::finished;
    }
    all.nodes.push_back(std::move(node));
  }
  for (const auto& [id, member] : members_) {
    if (in_round && member.node_rank) continue;
    NodeSnapshot& node = all.nodes.emplace_back();
    describe(member, node);
    node.state = in_round ? State::spare : State::waiting;
    if (terms_.static_ranks) node.node_rank = member.join.node_rank;
    if (member.busy_round) node.state = State::stopping;
  }
  if (!in_round) std::ranges::stable_sort(all.nodes, {}, &NodeSnapshot::node_rank);
  return all;
}

}  // namespace ddprun::roster
