#include "ddp/collectives.h"
#include "worker_sdk/src/collective_call.h"
#include "worker_sdk/src/text.h"
#include "worker_sdk/src/translate.h"

namespace ddp {
namespace {

using detail::CollectiveCall;
using detail::GroupState;
using std::chrono::milliseconds;

// What a rank of this SDK sets when it comes, because c10d tells rank 0 alone who did not.
std::string mark(std::int64_t barrier, int global_rank) {
  return "ddp/monitored_barrier/" + std::to_string(barrier) + "/" + std::to_string(global_rank);
}

// Those who came to this barrier had all passed the last one.
void set_mark(const GroupState& group, std::int64_t barrier) {
  group.store->set(mark(barrier, group.global_rank), std::string("1"));
  if (barrier > 0) group.store->deleteKey(mark(barrier - 1, group.global_rank));
}

std::vector<int> ranks_without_mark(const GroupState& group, std::int64_t barrier) {
  std::vector<int> missing;
  for (const int rank : group.ranks) {
    if (!group.store->check({mark(barrier, rank)})) missing.push_back(rank);
  }
  return missing;
}

// Called inside a catch block.
[[noreturn]] void explain(const GroupState& group, std::int64_t barrier, milliseconds timeout) {
  std::vector<int> missing;
  try {
    if (group.only_sdk_ranks) missing = ranks_without_mark(group, barrier);
  } catch (const std::exception&) {
    // The store is gone as well: what Gloo said is all there is.
  }
  if (missing.empty()) {
    detail::rethrow_translated(group.global_rank, "monitored_barrier",
                               detail::explainer(group.peers));
  }
  throw Error(group.global_rank,
              "monitored_barrier: waited up to " + detail::seconds(timeout) + " for " +
                  std::to_string(group.size()) +
                  " ranks. Did not come: " + detail::rank_list(missing) +
                  ". They hang, have ended, or are slower than the time-out",
              missing);
}

}  // namespace

void monitored_barrier(const ProcessGroup& handle, std::optional<milliseconds> timeout) {
  const CollectiveCall call(handle, "monitored_barrier");
  if (!call.is_member()) return;
  const GroupState& group = call.group();
  if (!group.gloo) call.refuse("exists with Gloo only, and the group's backend is nccl");
  if (timeout && timeout->count() <= 0) call.refuse("the timeout must be longer than zero");
  const std::int64_t barrier = group.monitored_barriers++;
  c10d::BarrierOptions options;
  options.timeout = timeout.value_or(group.timeout);
  try {
    if (group.only_sdk_ranks) set_mark(group, barrier);
    call.c10d().monitoredBarrier(options, /*wait_all_ranks=*/true);
  } catch (...) {
    explain(group, barrier, options.timeout);
  }
}

}  // namespace ddp
