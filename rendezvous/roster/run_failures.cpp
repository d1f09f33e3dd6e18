// What failed, and what follows from it.
#include <algorithm>
#include <utility>

#include "rendezvous/base/span_text.h"
#include "rendezvous/roster/run.h"
#include "rendezvous/roster/run_limits.h"

namespace ddprun::roster {

void Run::on(Time now, MemberId id, const protocol::Started& message) {
  if (round_node(id) == nullptr || message.round != round_->assignment.round) return;
  const auto nproc = static_cast<std::size_t>(members_.at(id).join.nproc);
  if (message.workers.size() > nproc)
    return misuse(now, id,
                  "it started " + count_text(message.workers.size(), "worker") +
                      ", but joined with " + std::to_string(nproc));
  Member& member = members_.at(id);
  member.workers = std::vector(message.workers);  // and the memory of the old ones goes
  count(member);
}

std::optional<std::string> Run::wrong(MemberId id, const protocol::Failed& message) const {
  const Member& member = members_.at(id);
  const bool known = round_ && message.round <= round_->assignment.round;
  if (!known && member.busy_round != message.round)
    return "it reported a failure in round " + std::to_string(message.round) +
           ", which has not begun";
  if (message.code.has_value() == message.signal.has_value() || message.code == 0)
    return "it reported a failure without one exit code or one signal";
  if (!known || message.round < round_->assignment.round || !member.node_rank) return {};
  const auto place = protocol::place_of(
      round_->assignment,
      round_->assignment.nodes.at(static_cast<std::size_t>(*member.node_rank)).member);
  if (!place) return {};
  const int first = place->first_rank;
  const int nproc = place->nproc;
  if (message.local_rank < nproc && message.rank == first + message.local_rank) return {};
  return "it reported rank " + std::to_string(message.rank) + " (local rank " +
         std::to_string(message.local_rank) + "), but has ranks " + std::to_string(first) + " to " +
         std::to_string(first + nproc - 1);
}

void Run::on(Time now, MemberId id, const protocol::Failed& message) {
  if (const auto what = wrong(id, message)) return misuse(now, id, *what);
  const bool in_round =
      phase_ == Phase::running || phase_ == Phase::settling || phase_ == Phase::resuming;
  const bool mine = round_node(id) != nullptr && message.round == round_->assignment.round;
  // Else it is what another failure has brought about.
  if (!in_round || !mine) return;
  const std::string& node = members_.at(id).join.node;
  Failure failure{.at = now - message.age,
                  .member = id,
                  .cause = {.kind = Cause::Kind::worker_failed,
                            .text = "rank " + std::to_string(message.rank) + " (local rank " +
                                    std::to_string(message.local_rank) + ") on node " + node +
                                    " failed: " + failure_text(message),
                            .node = node,
                            .rank = message.rank,
                            .local_rank = message.local_rank,
                            .code = message.code,
                            .signal = message.signal,
                            .lines = message.lines,
                            .how = message.how,
                            .absent = message.absent,
                            .silent_too = message.silent_too},
                  .exit_code = message.exit_code};
  if (phase_ == Phase::settling) {
    if (failure.at < failure_->at) failure_ = std::move(failure);
    return;
  }
  phase_ = Phase::settling;
  since_ = failure_arrived_ = now;
  settle_by_ = now + kSettle;
  roll_call_ = ++last_ping_;
  std::vector<MemberId> others = round_members();
  send(others, protocol::Stop{message.round, failure.cause.text}, failure.cause.text);
  std::erase(others, id);
  unheard_.clear();
  call_roll(std::move(others));
  failure_ = std::move(failure);
}

void Run::call_roll(std::vector<MemberId> members) {
  unheard_.insert(members.begin(), members.end());
  send(std::move(members), protocol::Ping{roll_call_}, "whether a lost node explains the failure");
}

void Run::settle(Time now) {
  if (awaited() || (!unheard_.empty() && now < settle_by_)) return;
  const Cause cause = failure_->cause;
  last_failure_ = cause;
  if (failure_->exit_code) return abort(cause, *failure_->exit_code, cause.text);
  if (restarts_ < terms_.max_restarts) {
    ++restarts_;
    restart_spent_ = true;
    return begin_forming(now, cause);
  }
  const std::string why = terms_.max_restarts == 0
                              ? cause.text
                              : cause.text + "; all restarts are spent (" + budget_text() + ")";
  abort(cause, cause.code ? *cause.code : 128 + *cause.signal, why);
}

void Run::on(Time now, MemberId id, const protocol::Drained& message) {
  Member& member = members_.at(id);
  const bool at_work = phase_ == Phase::running || phase_ == Phase::resuming;
  if (at_work && round_node(id) != nullptr && message.round == round_->assignment.round)
    return misuse(now, id, "it stopped its workers without being told to");
  if (member.busy_round != message.round) return;
  set_busy_round(member, {});
  member.workers = {};
  count(member);
  member.join.store_port = message.store_port;
}

void Run::on(Time, MemberId id, const protocol::Finished& message) {
  RoundNode* node = round_node(id);
  if (node == nullptr || message.round != round_->assignment.round) return;
  node->finished = true;
  changed_ = true;
}

void Run::on(Time now, MemberId id, const protocol::Leave& message) {
  close({id}, "it said goodbye: " + message.why);
  if (message.exit_code && !is_spare(id)) return end_for_all(id, message);
  lose(now, id, Cause::Kind::node_left, message.why);
}

// Nobody needs it while a round is there.
bool Run::is_spare(MemberId id) const {
  return round_ && phase_ != Phase::forming && !members_.at(id).node_rank;
}

// What this node has noticed concerns the job: its time limit has passed.
void Run::end_for_all(MemberId id, const protocol::Leave& message) {
  const auto member = members_.find(id);
  const std::string node = member->second.join.node;
  const std::string text = called(node, member->second.node_rank) + " left: " + message.why;
  erase(member);
  abort({.kind = Cause::Kind::node_left, .text = text, .node = node}, *message.exit_code, text);
}

void Run::on(Time, MemberId id, const protocol::Pong& message) {
  if (message.id == roll_call_) unheard_.erase(id);
  if (members_.at(id).ask == message.id) answered(id);
}

void Run::on_node_gone(Time now, MemberId id, Cause cause) {
  RoundNode* node = round_node(id);
  if (node != nullptr) {
    const bool hosts_store = node == &round_->nodes.front();
    node->member.reset();
    const bool at_work = phase_ != Phase::forming;
    // It has done its part, and nobody needs it any more.
    if (at_work && node->finished && !hosts_store) return;
    // Its own worker's failure is what explains the rest.
    if (phase_ == Phase::settling && failure_->member == id) return;
    last_failure_ = cause;
  }
  if (!round_) return;
  // Nobody is left to be told; or it is the server that was not there, and the agents have noticed.
  const bool no_loss = phase_ == Phase::running ? members_.empty() || has_just_slept(now)
                                                : phase_ == Phase::resuming && has_just_slept(now);
  if (node != nullptr && no_loss && may_return(cause.kind)) return await(now, *node);
  const bool too_few = own_members() < static_cast<std::size_t>(terms_.min_nodes);
  if (too_few && needs_all()) {
    if (node == nullptr && phase_ != Phase::forming) return;
    return abort(cause, kExitNodeLost,
                 cause.text + "; all " + count_text(terms_.max_nodes, "node") +
                     " are needed, and --max-restarts is 0");
  }
  if (node == nullptr) return;
  if (phase_ != Phase::forming) {
    failure_.reset();
    return begin_forming(now, std::move(cause));
  }
  const bool charged =
      restart_spent_ && failure_->member != id && now - failure_arrived_ <= kSettle;
  if (!charged) return;
  restart_spent_ = false;
  --restarts_;
  begin_forming(now, std::move(cause));
}

void Run::end_if_finished() {
  if (!std::ranges::all_of(round_->nodes, &RoundNode::finished)) return;
  const std::string why = "all workers of all nodes have ended with 0";
  end(protocol::Closed{"run " + terms_.run + " has ended: " + why}, why);
}

// Whatever node is lost, the job is.
bool Run::needs_all() const {
  return terms_.min_nodes == terms_.max_nodes && terms_.max_restarts == 0;
}

void Run::abort(Cause cause, int exit_code, const std::string& why) {
  // A cancellation means whoever is there.
  if (cause.kind != Cause::Kind::cancelled) release_strangers();
  end(protocol::Abort{.round = round_ ? std::optional(round_->assignment.round) : std::nullopt,
                      .cause = std::move(cause),
                      .exit_code = exit_code,
                      .why = why},
      why);
}

void Run::end(protocol::ServerMessage word, const std::string& why) {
  send(connections(), word, why);
  close(connections(), why);
  last_word_ = std::move(word);
  phase_ = Phase::over;
}

}  // namespace ddprun::roster
