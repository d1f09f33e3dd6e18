#include "worker_sdk/src/init_barrier.h"

#include <vector>

#include "worker_sdk/src/text.h"
#include "worker_sdk/src/translate.h"
#include "worker_sdk/src/worker_environment.h"

namespace ddp::detail {
namespace {

// Python counts the ranks only; this says which.
std::string own_mark(const std::string& group_name, int rank) {
  return "ddp/init_barrier/" + group_name + "/" + std::to_string(rank);
}

// "; rank 3 did not". Which ones is known where all who came have left their mark.
std::string who_did_not_come(c10d::Store& store, const std::string& group_name, int ranks,
                             std::int64_t came) {
  std::vector<int> missing;
  for (int rank = 0; rank < ranks; ++rank) {
    if (!store.check({own_mark(group_name, rank)})) missing.push_back(rank);
  }
  if (static_cast<std::int64_t>(missing.size()) != ranks - came) return "; the others did not";
  return (missing.size() == 1 ? "; rank " : "; ranks ") + rank_list(missing) + " did not";
}

}  // namespace

bool wants_init_barrier() {
  return integer_variable(process_environment(), "TORCH_DIST_INIT_BARRIER", 0) == 1;
}

void init_barrier(c10d::Store& store, const std::string& group_name, int ranks, int global_rank,
                  std::chrono::milliseconds timeout, const std::string& what) {
  const std::string key = "store_based_barrier_key:" + group_name, last = key + ":last_worker";
  translated(global_rank, what + ": TORCH_DIST_INIT_BARRIER", [&] {
    store.set(own_mark(group_name, global_rank), std::string("1"));
    if (store.add(key, 1) == ranks) store.set(last, std::string("1"));
    try {
      store.wait({last}, timeout);
    } catch (const std::exception&) {
      const auto came = store.add(key, 0);  // throws where the store is gone
      throw Error(global_rank, what + ": TORCH_DIST_INIT_BARRIER: " + std::to_string(came) +
                                   " of " + std::to_string(ranks) + " ranks came in " +
                                   seconds(timeout) +
                                   who_did_not_come(store, group_name, ranks, came) +
                                   ": look whether they have ended, hang, or have yet to call " +
                                   what + ", or give it a longer timeout");
    }
  });
}

}  // namespace ddp::detail
