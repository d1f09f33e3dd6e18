#include "tests/integration/multi_node/soak/outcome.h"

#include <signal.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace ddprun::nodes_soak {
namespace {

constexpr int kLost = 125;
constexpr int kStoreLost = 9;  // of node_worker.cpp

bool is_elastic(const Scenario& scenario) {
  return scenario.min_nodes < kNodes;
}

// The job does not get over the loss of a node.
bool needs_all(const Scenario& scenario) {
  return !is_elastic(scenario) && scenario.restarts == 0;
}

bool is_of_worker(const Fault& fault) {
  return fault.kind == FaultKind::worker_exits || fault.kind == FaultKind::worker_killed;
}

bool has(const Scenario& scenario, FaultKind kind) {
  return std::ranges::any_of(scenario.faults, [=](const Fault& each) { return each.kind == kind; });
}

bool is_of_silence(const Fault& fault) {
  return fault.kind == FaultKind::launcher_stopped || fault.kind == FaultKind::link_frozen ||
         fault.kind == FaultKind::link_cut;
}

bool takes_a_node(const Fault& fault) {
  return fault.kind == FaultKind::launcher_killed || fault.kind == FaultKind::guardian_killed ||
         fault.kind == FaultKind::told_to_stop || is_of_silence(fault);
}

std::string rank_text(int rank) {
  return rank < 0 ? "rank " : "rank " + std::to_string(rank) + " failed first: ";
}

std::string signal_text(int signo) {
  return "SIG" + std::string(::sigabbrev_np(signo));
}

// A rendezvous that is away itself learns first that the workers have lost the store of that node.
std::vector<Ending> lost(const Scenario& scenario, const Fault& fault) {
  std::vector<Ending> ends{{kLost, "node " + node_name(fault.node) + " is lost: "}};
  if (hurts_daemon(scenario)) ends.push_back({kStoreLost, " failed first: exit code 9"});
  return ends;
}

std::vector<Ending> told_to_stop(const Scenario& scenario, const Fault& fault) {
  std::vector<Ending> ends;
  const std::string node = "node " + node_name(fault.node);
  // Before the first round it is not known yet whether the job needs just this node.
  if (needs_all(scenario) || scenario.while_joining)
    ends.push_back({128 + fault.number, node + " left: stopped by " + signal_text(fault.number)});
  // It had nobody to say goodbye to.
  if (needs_all(scenario) && hurts_daemon(scenario))
    std::ranges::copy(lost(scenario, fault), std::back_inserter(ends));
  return ends;
}

std::vector<Ending> silent(const Scenario& scenario, const Fault& fault) {
  return needs_all(scenario) && is_long(fault) ? lost(scenario, fault) : std::vector<Ending>{};
}

// A newcomer is a spare, if it is there in time, and then one node may be lost.
bool has_spare(const Scenario& scenario) {
  return has(scenario, FaultKind::newcomer);
}

bool needs_restart(const Scenario& scenario) {
  return std::ranges::count_if(scenario.faults, is_of_worker) > scenario.restarts;
}

bool surely_ends(const Scenario& scenario, const Fault& fault) {
  if (scenario.while_joining) return false;
  // A failure about the time at which a node goes is charged to that.
  if (is_of_worker(fault))
    return scenario.restarts == 0 && meets_first_round(scenario, fault) &&
           std::ranges::none_of(scenario.faults, takes_a_node);
  if (fault.kind == FaultKind::cancelled) return true;
  // A rendezvous that is away itself, or new, does not know who is silent, or gone and back.
  if (hurts_daemon(scenario) && (is_of_silence(fault) || fault.comes_back)) return false;
  // Whoever is done is not missed, unless it hosts the store.
  if (fault.node == scenario.early || has_spare(scenario)) return false;
  return !endings_of(scenario, fault, -1).empty();
}

std::vector<Ending> possible_endings(const Scenario& scenario, const Observation& seen) {
  std::vector<Ending> all;
  for (std::size_t i = 0; i < scenario.faults.size(); ++i) {
    const int rank = i < seen.ranks.size() ? seen.ranks[i] : -1;
    std::ranges::copy(endings_of(scenario, scenario.faults[i], rank), std::back_inserter(all));
  }
  return all;
}

bool ended_so(const Life& life, const Ending& ending) {
  return life.signal == 0 && life.code == ending.code &&
         life.err.find(ending.told) != std::string::npos;
}

std::string end_text(const Life& life) {
  std::string text = node_name(life.node) + (life.again ? ", started again," : "");
  if (life.timed_out) return text + " did not end";
  return text + (life.signal != 0 ? " ended by " + signal_text(life.signal)
                                  : " ended with " + std::to_string(life.code));
}

// What was done to the node may end it in a way of its own.
bool ended_by_fault(const Fault& fault, const Life& life) {
  switch (fault.kind) {
    case FaultKind::launcher_killed:
    case FaultKind::guardian_killed:
      return !life.again && life.signal == SIGKILL;
    case FaultKind::told_to_stop:
      return !life.again && life.signal == fault.number;
    default:
      return false;
  }
}

// Whoever was away when the job ended begins alone, and so does whoever comes too late.
bool may_be_left_alone(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::launcher_stopped:
    case FaultKind::link_frozen:
      return is_long(fault);
    case FaultKind::link_cut:
    case FaultKind::newcomer:
      return true;
    default:
      return false;
  }
}

bool is_undisturbed(const Scenario& scenario, const Life& life) {
  return std::ranges::none_of(scenario.faults,
                              [&](const Fault& fault) { return concerns(fault, life.node); });
}

std::string list(const std::vector<Ending>& endings, bool may_go_on) {
  std::string text = may_go_on ? "0" : "";
  for (const Ending& each : endings)
    text += (text.empty() ? "" : " or ") + std::to_string(each.code) + " ('" + each.told + "')";
  return text;
}

// First those that nothing was done to, who have to agree; then the others, who may have an end of
// their own.
class Judge {
 public:
  Judge(const Scenario& scenario, const Observation& seen)
      : scenario_(scenario),
        endings_(possible_endings(scenario, seen)),
        may_end_well_(may_go_on(scenario)) {}

  std::string undisturbed(const Life& life) {
    if (life.timed_out) return end_text(life);
    if (life.again || !is_undisturbed(scenario_, life)) return "";
    if (came_too_late(life)) return "";
    const auto how = end_of(life);
    if (!how) return end_text(life) + " instead of " + list(endings_, may_end_well_);
    if (job_ && *job_ != *how)
      return end_text(life) + ", and another node otherwise: there has to be one cause for all";
    job_ = how;
    return "";
  }

  std::string disturbed(const Life& life) const {
    if (!life.again && is_undisturbed(scenario_, life)) return "";
    const auto how = end_of(life);
    if (how && (how == job_ || !job_)) return "";
    if (life.again && (life.code == kLost || how)) return "";
    for (const Fault& fault : scenario_.faults) {
      if (!concerns(fault, life.node)) continue;
      if (ended_by_fault(fault, life)) return "";
      if (may_be_left_alone(fault) && (life.code == kLost || how)) return "";
    }
    return end_text(life) + ", which nothing explains";
  }

  bool ended_well() const { return job_ == kWell; }

 private:
  static constexpr int kWell = -1;

  // Somebody has ended the job before it began, and this node came after that.
  bool came_too_late(const Life& life) const {
    return scenario_.while_joining && !endings_.empty() && life.signal == 0 && life.code == kLost &&
           life.err.find(" gave up after ") != std::string::npos;
  }

  // An index of endings_ or kWell; nothing: an end that the job must not have.
  std::optional<int> end_of(const Life& life) const {
    if (may_end_well_ && life.signal == 0 && life.code == 0) return kWell;
    const auto ending =
        std::ranges::find_if(endings_, [&](const Ending& each) { return ended_so(life, each); });
    if (ending == endings_.end()) return {};
    return static_cast<int>(ending - endings_.begin());
  }

  const Scenario& scenario_;
  std::vector<Ending> endings_;
  bool may_end_well_;
  std::optional<int> job_;
};

}  // namespace

std::vector<Ending> endings_of(const Scenario& scenario, const Fault& fault, int rank) {
  switch (fault.kind) {
    case FaultKind::worker_exits:
      if (!needs_restart(scenario)) return {};
      return {{fault.number, rank_text(rank) + "exit code " + std::to_string(fault.number)}};
    case FaultKind::worker_killed:
      if (!needs_restart(scenario)) return {};
      return {{128 + fault.number, rank_text(rank) + signal_text(fault.number)}};
    case FaultKind::launcher_killed:
    case FaultKind::link_cut:
      return needs_all(scenario) ? lost(scenario, fault) : std::vector<Ending>{};
    case FaultKind::guardian_killed: {
      if (!needs_all(scenario)) return {};
      auto ends = lost(scenario, fault);
      ends.push_back(
          {kLost, "node " + node_name(fault.node) + " left: its outer process was killed"});
      return ends;
    }
    case FaultKind::told_to_stop:
      return told_to_stop(scenario, fault);
    case FaultKind::launcher_stopped:
    case FaultKind::link_frozen:
      return silent(scenario, fault);
    case FaultKind::cancelled:
      return {{143, "run " + run_id(scenario) + " was cancelled by "}};
    case FaultKind::daemon_killed:
    case FaultKind::daemon_ended:
    case FaultKind::daemon_stopped:
    case FaultKind::newcomer:
      break;
  }
  return {};
}

bool meets_first_round(const Scenario& scenario, const Fault& fault) {
  return std::ranges::all_of(
      scenario.faults, [&](const Fault& each) { return &each >= &fault || is_of_daemon(each); });
}

bool may_go_on(const Scenario& scenario) {
  return std::ranges::none_of(scenario.faults,
                              [&](const Fault& fault) { return surely_ends(scenario, fault); });
}

std::string wrong_with(const Scenario& scenario, const Observation& seen) {
  Judge judge(scenario, seen);
  for (const Life& life : seen.lives)
    if (const auto wrong = judge.undisturbed(life); !wrong.empty()) return wrong;
  for (const Life& life : seen.lives)
    if (const auto wrong = judge.disturbed(life); !wrong.empty()) return wrong;
  return wrong_with_worlds(scenario, seen.met, judge.ended_well());
}

}  // namespace ddprun::nodes_soak
