// What the next server has to know of a run, and how it goes on there.
#include <algorithm>

#include "rendezvous/roster/footprint.h"
#include "rendezvous/roster/run.h"

namespace ddprun::roster {

// A head that falls silent is noticed by its nodes no sooner than they are by it, so they get as
// long as anybody who may come back. Whoever has done its part need not.
Run::Run(const Server& server, const protocol::RunRecord& record, Time now)
    : server_(server),
      terms_(record.terms),
      run_directory_(record.run_directory),
      adopted_(true),
      began_(now),
      since_(now),
      next_round_(record.next_round),
      restarts_(record.restarts),
      last_failure_(record.last_failure),
      next_keep_alive_(now + terms_.ping_interval) {
  back_within_ = longest_return();
  back_by_ = all_back_by_ = now + back_within_;
  return_by_ = now + std::max(back_within_, terms_.join_timeout);
  if (!record.round) return;
  const protocol::RecordedRound& round = *record.round;
  round_ = Round{.assignment = round.assignment,
                 .server = round.server,
                 .bytes = footprint(round.assignment) + round.nodes.size() * sizeof(RoundNode),
                 .ended_by = round.ended_by};
  const bool done = std::ranges::all_of(round.nodes, &protocol::RecordedNode::finished);
  for (const protocol::RecordedNode& node : round.nodes)
    round_->nodes.push_back({.finished = node.finished,
                             .away = !node.finished || (round_->nodes.empty() && !done),
                             .pid = node.pid});
  if (round.ended_by) return;
  phase_ = Phase::resuming;
  return_by_ = back_by_;
  taking_back_ = true;
}

Run::Mark Run::mark() const {
  return {.run_directory = run_directory_,
          .next_round = next_round_,
          .restarts = restarts_,
          .round_over = round_ && phase_ == Phase::forming,
          .finished = round_ ? std::ranges::count(round_->nodes, true, &RoundNode::finished) : 0};
}

protocol::RunRecord Run::record() const {
  protocol::RunRecord record{.terms = terms_,
                             .run_directory = run_directory_,
                             .next_round = next_round_,
                             .restarts = restarts_,
                             .last_failure = last_failure_};
  if (!round_) return record;
  record.round = {.server = round_->server, .assignment = round_->assignment};
  record.round->assignment.store_key.reset();
  if (phase_ == Phase::forming) record.round->ended_by = round_->ended_by;
  for (const RoundNode& node : round_->nodes)
    record.round->nodes.push_back({.pid = node.pid, .finished = node.finished});
  return record;
}

}  // namespace ddprun::roster
