#include "rendezvous/roster/run.h"

#include <algorithm>
#include <utility>

#include "rendezvous/roster/footprint.h"
#include "rendezvous/roster/run_limits.h"

namespace ddprun::roster {
namespace {

void sooner(std::optional<Time>& at, Time other) {
  at = at ? std::min(*at, other) : other;
}

}  // namespace

Run::Run(const Server& server, const Join& first, std::string run_directory, Time now)
    : server_(server),
      terms_(terms_of(first, server)),
      run_directory_(first.former ? first.former->run_directory : std::move(run_directory)),
      adopted_(first.former.has_value()),
      began_(now),
      since_(now),
      next_keep_alive_(now + terms_.ping_interval) {}

Decision Run::on_join(Time now, const Peer& from, const Join& newcomer) {
  join(now, from, newcomer);
  return decide(now);
}

Decision Run::on_message(Time now, MemberId from, const protocol::AgentMessage& message) {
  const auto it = members_.find(from);
  if (it == members_.end()) return decide(now);
  it->second.heard = now;
  it->second.unanswered = 0;
  std::visit(
      [&](const auto& each) {
        if constexpr (requires { on(now, from, each); }) {
          on(now, from, each);
        } else {
          misuse(now, from, "it sent \"" + std::string(protocol::type_name(message)) + "\"");
        }
      },
      message);
  return decide(now);
}

Decision Run::on_lost(Time now, MemberId member, const std::string& how) {
  std::erase_if(challengers_, [&](const Challenger& each) { return each.from.id == member; });
  lose(now, member, Cause::Kind::node_lost, how);
  return decide(now);
}

Decision Run::on_cancel(Time now, const std::string& by) {
  const std::string text = "run " + terms_.run + " was cancelled by " + by;
  taking_back_ = false;  // whoever is there is meant
  abort({.kind = Cause::Kind::cancelled, .text = text}, kExitCancelled, text);
  return decide(now);
}

Decision Run::on_time(Time now) {
  return decide(now);
}

// Whatever has happened, the run moves on as far as it can.
Decision Run::decide(Time now) {
  keep_alive(now);
  drop_silent(now);
  lose_who_stays_away(now);
  if (phase_ == Phase::settling) settle(now);
  if (phase_ == Phase::resuming) finish_resuming(now);
  if (phase_ == Phase::running) end_if_finished();
  if (phase_ == Phase::running) grow(now);
  if (phase_ == Phase::forming) form(now);
  if (deserted() && (!return_by_ || now >= *return_by_)) phase_ = Phase::over;
  if (phase_ != Phase::over) tell_waiting(now);
  return {.effects = std::exchange(effects_, {}), .wake_at = wake_at()};
}

std::optional<Time> Run::wake_at() const {
  if (phase_ == Phase::over) return {};
  std::optional<Time> at = next_keep_alive_;
  for (const MemberId id : asked_) sooner(at, members_.at(id).answer_by);
  if (phase_ == Phase::settling || phase_ == Phase::resuming)
    sooner(at, awaited() ? back_by_ : settle_by_);
  if (phase_ == Phase::forming) sooner(at, since_ + terms_.join_timeout);
  if (phase_ == Phase::forming && last_call_at_) sooner(at, *last_call_at_);
  if (deserted()) sooner(at, *return_by_);
  wake_for_waiting(at);
  return at;
}

void Run::wake_for_waiting(std::optional<Time>& at) const {
  if (!told_waiting_) return;
  if (changed_) sooner(at, *told_waiting_ + kWaitingPause);
  const bool finished_wait =
      phase_ == Phase::running && std::ranges::any_of(round_->nodes, &RoundNode::finished);
  if (phase_ == Phase::forming || finished_wait) sooner(at, tell_again_at());
}

std::vector<MemberId> Run::connections() const {
  std::vector<MemberId> ids;
  for (const auto& [id, member] : members_) ids.push_back(id);
  for (const Challenger& each : challengers_) ids.push_back(each.from.id);
  return ids;
}

std::optional<std::string> Run::node_of(MemberId member) const {
  const auto it = members_.find(member);
  return it == members_.end() ? std::nullopt : std::optional(it->second.join.node);
}

std::size_t Run::memory_bytes() const {
  std::size_t sum = sizeof *this + member_bytes_;
  for (const Challenger& each : challengers_) sum += sizeof each + footprint(each.join);
  if (round_) sum += round_->bytes;
  if (round_ && round_->ended_by) sum += footprint(round_->ended_by->cause);
  if (failure_) sum += footprint(failure_->cause);
  if (last_failure_) sum += footprint(*last_failure_);
  return sum;
}

Run::RoundNode* Run::round_node(MemberId id) {
  if (!round_) return nullptr;
  const auto it = std::ranges::find(round_->nodes, std::optional(id), &RoundNode::member);
  return it == round_->nodes.end() ? nullptr : &*it;
}

std::vector<MemberId> Run::round_members() const {
  std::vector<MemberId> ids;
  if (!round_) return ids;
  for (const RoundNode& node : round_->nodes)
    if (node.member) ids.push_back(*node.member);
  return ids;
}

void Run::send(std::vector<MemberId> to, protocol::ServerMessage message, std::string reason) {
  if (to.empty()) return;
  effects_.push_back(Send{std::move(to), std::move(message), std::move(reason)});
}

void Run::close(std::vector<MemberId> members, std::string reason) {
  if (!members.empty()) effects_.push_back(Close{std::move(members), std::move(reason)});
}

}  // namespace ddprun::roster
