// Rounds begin and end, and who waits hears of it.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "rendezvous/base/span_text.h"
#include "rendezvous/roster/footprint.h"
#include "rendezvous/roster/natural_order.h"
#include "rendezvous/roster/ranks.h"
#include "rendezvous/roster/run.h"
#include "rendezvous/roster/run_limits.h"

namespace ddprun::roster {
namespace {

// Of each node but the store's, so that the message for 4,096 of them is not too large.
constexpr std::size_t kAddressesOfNode = 2;

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

// Of "10.0.0.2:4711" or "[fd00::2]:4711".
std::string host_of(std::string_view peer) {
  const std::string_view host = peer.substr(0, peer.rfind(':'));
  return std::string(host.starts_with('[') ? host.substr(1, host.size() - 2) : host);
}

// Node ranks by the value that they have.
using ByValue = std::map<std::string, std::vector<int>>;

}  // namespace

std::string Run::budget_text() const {
  return std::to_string(restarts_) + " of " + std::to_string(terms_.max_restarts);
}

void Run::begin_forming(Time now, Cause cause) {
  phase_ = Phase::forming;
  since_ = now;
  taking_back_ = false;
  wants_last_call_ = members_.size() < static_cast<std::size_t>(terms_.min_nodes);
  last_call_at_.reset();
  // Nobody is missing when the nodes only stop their workers, and Restart has said that much.
  changed_ = wants_last_call_;
  told_waiting_ = now;
  std::string why = cause.text;
  if (cause.kind == Cause::Kind::worker_failed) {
    why += "; restart " + budget_text() + " follows";
  } else {
    why += wants_last_call_ ? "; waiting for a replacement, no restart is spent"
                            : "; a new round follows, no restart is spent";
  }
  std::vector<MemberId> told;
  for (const auto& [id, member] : members_)
    if (member.node_rank && round_node(id) != nullptr) told.push_back(id);
  const std::string reason = why;
  protocol::Restart restart{.round = round_->assignment.round,
                            .cause = std::move(cause),
                            .restarts = restarts_,
                            .max_restarts = terms_.max_restarts,
                            .why = std::move(why)};
  if (server_.durable) round_->ended_by = restart;
  send(std::move(told), std::move(restart), reason);
}

void Run::form(Time now) {
  const auto min = static_cast<std::size_t>(terms_.min_nodes);
  const auto max = static_cast<std::size_t>(terms_.max_nodes);
  const std::size_t ready = members_.size() - busy_;
  const bool timed_out = now >= since_ + terms_.join_timeout;
  // Whoever still stops workers will be back in a moment; not for ever, though.
  const bool drained = busy_ == 0 || timed_out;
  if (ready < min) {
    last_call_at_.reset();
    wants_last_call_ = wants_last_call_ || members_.size() < min;
  } else if (drained) {
    if (ready >= max) return begin_round(now, "all " + count_text(max, "node") + " are here");
    if (!wants_last_call_)
      return begin_round(now, "the nodes that are left are enough (" + std::to_string(ready) + ")");
    if (!last_call_at_) last_call_at_ = now + terms_.last_call_timeout;
    if (now >= *last_call_at_ || timed_out)
      return begin_round(now, "the last call of " + span_text(terms_.last_call_timeout) +
                                  " is over, and " + std::to_string(ready) + " are enough");
  } else if (last_call_at_ && now >= *last_call_at_) {
    // Nobody is called any more; only for those who are here is waited.
    last_call_at_.reset();
    wants_last_call_ = false;
  }
  if (!timed_out) return;
  std::string text = "run " + terms_.run + " gave up after " + span_text(terms_.join_timeout) +
                     " (join_timeout): " + who_is_missing(gathering(now));
  if (last_failure_) text += "; before that, " + last_failure_->text;
  abort({.kind = Cause::Kind::timed_out, .text = text}, kExitNodeLost, text);
}

void Run::begin_round(Time now, std::string why) {
  std::vector<MemberId> ids;
  std::vector<Candidate> candidates;
  for (const auto& [id, member] : members_) {
    if (member.busy_round) continue;
    ids.push_back(id);
    candidates.push_back({.node = member.join.node,
                          .wanted = member.join.node_rank,
                          .previous = member.node_rank,
                          .hosts_server = member.join.hosts_server});
  }
  Round round{.assignment = {.round = next_round_++,
                             .restarts = restarts_,
                             .max_restarts = terms_.max_restarts,
                             .why = std::move(why)},
              .server = server_.id};
  for (auto& [id, member] : members_) member.node_rank.reset();
  for (const std::size_t i : node_order(candidates, static_cast<std::size_t>(terms_.max_nodes))) {
    Member& member = members_.at(ids[i]);
    member.node_rank = static_cast<int>(round.nodes.size());
    set_busy_round(member, round.assignment.round);
    member.workers.clear();
    round.nodes.push_back({.member = ids[i], .pid = member.join.pid});
    round.assignment.nodes.push_back(
        {.member = ids[i], .node = member.join.node, .nproc = member.join.nproc});
    round.assignment.world_size += member.join.nproc;
  }
  round_ = std::move(round);
  const MemberId first = *round_->nodes.front().member;
  round_->assignment.store_host = store_host(first);
  round_->assignment.store_port = members_.at(first).join.store_port;
  round_->assignment.store_key = members_.at(first).join.store_key;
  round_->bytes = footprint(round_->assignment) + round_->nodes.size() * sizeof(RoundNode);
  phase_ = Phase::running;
  since_ = now;
  failure_.reset();
  restart_spent_ = false;
  last_call_at_.reset();
  changed_ = true;
  tell_differences();
  if (server_.guarded) tell_store_clients(first);
  send(round_members(), round_->assignment,
       "round " + std::to_string(round_->assignment.round) + " begins: " + round_->assignment.why);
}

// Where the workers of a node come from is known from its agent: that connection's address, and
// what the agent says of itself.
void Run::tell_store_clients(MemberId host) {
  std::set<std::string> addresses;
  for (const RoundNode& node : round_->nodes) {
    const Member& member = members_.at(*node.member);
    const std::vector<std::string>& own = member.join.addresses;
    const std::size_t most = node.member == host ? own.size() : kAddressesOfNode;
    addresses.insert(host_of(member.from.address));
    addresses.insert(own.begin(),
                     own.begin() + static_cast<std::ptrdiff_t>(std::min(most, own.size())));
  }
  send({host},
       protocol::StoreClients{.round = round_->assignment.round,
                              .addresses = {addresses.begin(), addresses.end()}},
       "the store of the round is for " + count_text(addresses.size(), "address"));
}

// An address of the node that the others can reach: never loopback, unless all are on one host.
std::string Run::store_host(MemberId id) const {
  const Join& host = members_.at(id).join;
  if (host.local_addr) return *host.local_addr;
  const bool one_host = std::ranges::all_of(round_->nodes, [&](const RoundNode& node) {
    return is_loopback(members_.at(*node.member).join.addresses.front());
  });
  const auto reachable = std::ranges::find_if_not(host.addresses, is_loopback);
  return one_host || reachable == host.addresses.end() ? host.addresses.front() : *reachable;
}

void Run::grow(Time now) {
  if (terms_.static_ranks || !terms_.grow) return;
  if (round_->nodes.size() >= static_cast<std::size_t>(terms_.max_nodes)) return;
  // The job is about to end: nobody starts again what others have finished.
  if (std::ranges::any_of(round_->nodes, &RoundNode::finished)) return;
  const auto newcomer = std::ranges::find_if(
      members_, [](const auto& each) { return !each.second.node_rank && !each.second.busy_round; });
  if (newcomer == members_.end()) return;
  const std::string& node = newcomer->second.join.node;
  begin_forming(now, {.kind = Cause::Kind::node_joined,
                      .text = "node " + node + " has joined, and there is room for it",
                      .node = node});
}

void Run::tell_differences() {
  ByValue programs, arguments, nprocs;
  for (int rank = 0; rank < static_cast<int>(round_->assignment.nodes.size()); ++rank) {
    const auto& node = round_->assignment.nodes[static_cast<std::size_t>(rank)];
    const Join& join = members_.at(node.member).join;
    // It could not be read there, which that node says itself.
    if (!join.program.empty()) programs[join.program].push_back(rank);
    if (join.arguments) arguments[*join.arguments].push_back(rank);
    nprocs[std::to_string(node.nproc)].push_back(rank);
  }
  const auto tell = [&](const ByValue& values, bool& told, const std::string& what,
                        const std::string& end) {
    if (values.size() < 2 || std::exchange(told, true)) return;
    send({*round_->nodes.front().member}, protocol::Notice{what + values_text(values) + end},
         "the nodes differ");
  };
  tell(programs, told_programs_, "the nodes do not run the same program (checksums: ", ")");
  tell(arguments, told_arguments_,
       "the nodes do not give the program the same arguments (checksums: ", ")");
  tell(nprocs, told_nproc_, "the nodes have different numbers of workers: ", "");
}

std::string Run::values_text(const std::map<std::string, std::vector<int>>& by_value) const {
  std::vector<std::string> parts;
  for (const auto& [value, ranks] : by_value) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min<std::size_t>(ranks.size(), 3); ++i)
      names.push_back(
          name_of(round_->assignment.nodes[static_cast<std::size_t>(ranks[i])].node, ranks[i]));
    parts.push_back(value + " on " +
                    (ranks.size() <= 3
                         ? list_text(names)
                         : names.front() + " and " + std::to_string(ranks.size() - 1) + " others"));
  }
  return list_text(parts);
}

Gathering Run::gathering(Time now) const {
  Gathering all{.run = terms_.run,
                .min_nodes = static_cast<std::size_t>(terms_.min_nodes),
                .max_nodes = static_cast<std::size_t>(terms_.max_nodes),
                .waited = now - since_,
                .until_over = since_ + terms_.join_timeout - now};
  if (last_call_at_) all.last_call = *last_call_at_ - now;
  std::set<int> ranks;
  for (const auto& [id, member] : members_) {
    all.here.push_back(member.join.node);
    if (member.join.node_rank) ranks.insert(*member.join.node_rank);
    if (member.busy_round) all.draining.push_back(member.join.node);
  }
  std::ranges::sort(all.here, natural_less);
  for (int rank = 0; terms_.static_ranks && rank < terms_.max_nodes; ++rank)
    if (!ranks.contains(rank)) all.missing_ranks.push_back(rank);
  return all;
}

Time Run::tell_again_at() const {
  const bool early = *told_waiting_ < since_ + kWaitingOften;
  return *told_waiting_ + (early ? kWaitingRepeat : kWaitingRepeatLater);
}

void Run::tell_waiting(Time now) {
  const bool repeat = told_waiting_ && now >= tell_again_at();
  const bool at_once =
      members_.size() <= kSmallWorld || !told_waiting_ || now >= *told_waiting_ + kWaitingPause;
  if (!repeat && !(changed_ && at_once)) return;
  if (phase_ != Phase::forming) {
    tell_spares(now);
  } else {
    Gathering all = gathering(now);
    protocol::Waiting waiting{.text = waiting_text(all),
                              .here = static_cast<int>(all.here.size()),
                              .needed = terms_.min_nodes,
                              .nodes = std::move(all.here),
                              .missing_ranks = std::move(all.missing_ranks),
                              .waited = all.waited,
                              .left = all.last_call ? all.last_call : all.until_over};
    waiting.nodes.resize(std::min(waiting.nodes.size(), kListed));
    waiting.missing_ranks.resize(std::min(waiting.missing_ranks.size(), kListed));
    send(connections(), std::move(waiting),
         changed_ ? "who is here has changed" : "nothing has changed");
  }
  changed_ = false;
  told_waiting_ = now;
}

// Those who have nothing to do while a round runs: spares, who hear of changes only, and nodes that
// have ended well, who also hear every 10 s for whom they wait.
void Run::tell_spares(Time now) {
  std::vector<std::string> busy;
  std::vector<MemberId> finished;
  for (std::size_t i = 0; i < round_->nodes.size(); ++i) {
    const RoundNode& node = round_->nodes[i];
    if (!node.finished) busy.push_back(round_->assignment.nodes[i].node);
    if (node.finished && node.member) finished.push_back(*node.member);
  }
  std::vector<MemberId> spares;
  for (const auto& [id, member] : members_)
    if (!member.node_rank) spares.push_back(id);
  protocol::Waiting waiting{.here = static_cast<int>(members_.size()),
                            .needed = terms_.min_nodes,
                            .waited = now - since_};
  const std::string run = "run " + terms_.run + ": ";
  waiting.text = run + "all workers of this node have ended with 0; " +
                 count_text(busy.size(), "node") + " still at work: " + list_text(busy);
  send(std::move(finished), waiting, "the job has not ended on all nodes");
  if (!changed_) return;
  waiting.spare = true;
  waiting.text = run + "round " + std::to_string(round_->assignment.round) + " runs on " +
                 count_text(round_->nodes.size(), "node") + "; this node is a spare and steps in " +
                 "when one is lost or a new round begins";
  send(std::move(spares), std::move(waiting), "they are not in the round");
}

}  // namespace ddprun::roster
