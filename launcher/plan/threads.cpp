#include "launcher/plan/threads.h"

#include <algorithm>

#include "launcher/placement/bindings.h"
#include "launcher/plan/wording.h"

namespace ddprun::plan {
namespace {

using Kind = cli::ThreadCount::Kind;

// Empty unless some worker is bound.
std::vector<int> bound_shares(const LaunchPlan& plan) {
  std::vector<placement::Binding> bindings;
  for (const WorkerPlan& worker : plan.workers)
    bindings.push_back(worker.binding.value_or(placement::Binding{}));
  std::vector<int> shares = placement::cpu_shares(bindings);
  if (std::ranges::all_of(shares, [](int share) { return share == 0; })) shares.clear();
  return shares;
}

// A quota may allow less than the CPUs that the workers are bound to.
bool has_quota(const Node& node) {
  return node.machine && node.allowed_cpus < static_cast<int>(node.machine->allowed.size());
}

void notice(LaunchPlan& plan, const std::string& number, const std::string& why) {
  plan.notices.insert(plan.notices.begin() + static_cast<std::ptrdiff_t>(plan.common_notices++),
                      "OMP_NUM_THREADS=" + number + " for each worker" + why);
}

void give_number(int number, const Node& node, LaunchPlan& plan) {
  plan.omp_num_threads = number;
  if (node.omp_num_threads_set)
    notice(plan, std::to_string(number), " (--threads), instead of the value in the environment");
}

void give_share_of_all(int share, bool explicitly, const Node& node, LaunchPlan& plan) {
  plan.omp_num_threads = share;
  notice(plan, std::to_string(share),
         " (" + count_text(static_cast<std::size_t>(node.allowed_cpus), "CPU") + ", " +
             count_text(plan.workers.size(), "worker") + ")" +
             (explicitly ? "" : "; a value of your own is kept"));
}

void give_shares(const std::vector<int>& shares, LaunchPlan& plan) {
  const auto [least, most] = std::ranges::minmax(shares);
  std::string number = std::to_string(least);
  if (least == most) {
    plan.omp_num_threads = least;
  } else {
    number += "-" + std::to_string(most);
    for (std::size_t i = 0; i < shares.size(); ++i) plan.workers[i].omp_num_threads = shares[i];
  }
  notice(plan, number, " (its share of the CPUs that it is bound to)");
}

}  // namespace

void give_threads(const cli::JobSpec& job, const Node& node, LaunchPlan& plan) {
  if (job.threads.kind == Kind::number) return give_number(job.threads.number, node, plan);
  const bool explicitly = job.threads.kind == Kind::automatic;
  if (!explicitly && (node.omp_num_threads_set || plan.workers.size() == 1)) return;
  const int share = std::max(1, node.allowed_cpus / static_cast<int>(plan.workers.size()));
  std::vector<int> shares = bound_shares(plan);
  if (shares.empty()) return give_share_of_all(share, explicitly, node, plan);
  for (int& own : shares)
    if (own == 0 || has_quota(node)) own = own == 0 ? share : std::min(own, share);
  give_shares(shares, plan);
}

}  // namespace ddprun::plan
