// What a rank of this SDK writes into the store before it connects to the others, and what can be
// told from it afterwards.
#pragma once

#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "worker_sdk/src/group_state.h"

namespace ddp::detail {

// This process joins as rank `all.rank` of the default group; `store` is below its prefix. The last
// process that joins as a rank stands there.
void set_join_mark(c10d::Store& store, const GroupState& all);

// Whether every member of `group` was built with this SDK. `store` as above. Only Gloo waits for
// all ranks, so only after that a missing mark means another kind of rank.
bool all_have_join_marks(c10d::Store& store, const GroupState& group);

// What the environment of the ranks contradicts itself in: another process has joined as this rank,
// or a rank believes in another world size. Empty if nothing does. `store` as above; throws where
// it is gone.
std::string contradiction(c10d::Store& store, const GroupState& all);

}  // namespace ddp::detail
