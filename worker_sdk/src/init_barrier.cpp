#include "worker_sdk/src/init_barrier.h"

#include "worker_sdk/src/text.h"
#include "worker_sdk/src/translate.h"
#include "worker_sdk/src/worker_environment.h"

namespace ddp::detail {

bool wants_init_barrier() {
  return integer_variable(process_environment(), "TORCH_DIST_INIT_BARRIER", 0) == 1;
}

void init_barrier(c10d::Store& store, const std::string& group_name, int ranks, int global_rank,
                  std::chrono::milliseconds timeout, const std::string& what) {
  const std::string key = "store_based_barrier_key:" + group_name, last = key + ":last_worker";
  translated(global_rank, what + ": TORCH_DIST_INIT_BARRIER", [&] {
    if (store.add(key, 1) == ranks) store.set(last, std::string("1"));
    try {
      store.wait({last}, timeout);
    } catch (const std::exception&) {
      const auto came = store.add(key, 0);  // throws where the store is gone
      throw Error(global_rank, what + ": TORCH_DIST_INIT_BARRIER: " + std::to_string(came) +
                                   " of " + std::to_string(ranks) + " ranks came in " +
                                   seconds(timeout) + "; the others hang or have ended");
    }
  });
}

}  // namespace ddp::detail
