// Builds c10d's process groups with the keys that Python uses, so that Python ranks can join.
#pragma once

#include <optional>

#include "worker_sdk/src/group_state.h"

namespace ddp::detail {

// Fills `state.store` and `state.group` from the name, backend, ranks and time-out in it; `parent`
// is the store above the group's own prefix. Returns when all members have come (Gloo). Throws
// ddp::Error that begins with `what` and names the ranks that came and those that did not.
void connect_group(GroupState& state, const c10::intrusive_ptr<c10d::Store>& parent,
                   const std::optional<c10::Device>& device_id, const std::string& what);

// Takes over TORCH_DISTRIBUTED_DEBUG. Throws ddp::Error if it is not OFF, INFO or DETAIL.
void read_debug_level(int rank);

}  // namespace ddp::detail
