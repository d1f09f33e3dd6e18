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

// Which ones did not come; empty where not all who came have left their mark.
std::vector<int> ranks_without_mark(c10d::Store& store, const std::string& group_name, int ranks,
                                    std::int64_t came) {
  std::vector<int> missing;
  for (int rank = 0; rank < ranks; ++rank) {
    if (!store.check({own_mark(group_name, rank)})) missing.push_back(rank);
  }
  const bool all_known = static_cast<std::int64_t>(missing.size()) == ranks - came;
  return all_known ? missing : std::vector<int>{};
}

// "; rank 3 did not".
std::string who_did_not_come(const std::vector<int>& missing) {
  if (missing.empty()) return "; the others did not";
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
      const std::vector<int> missing = ranks_without_mark(store, group_name, ranks, came);
      throw Error(global_rank,
                  what + ": TORCH_DIST_INIT_BARRIER: " + std::to_string(came) + " of " +
                      std::to_string(ranks) + " ranks came in " + seconds(timeout) +
                      who_did_not_come(missing) +
                      ": look whether they have ended, hang, or have yet to call " + what +
                      ", or give it a longer timeout",
                  missing);
    }
  });
}

}  // namespace ddp::detail
