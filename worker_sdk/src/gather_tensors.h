// all_gather for the SDK's own use: without checks, and errors are c10d's.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "worker_sdk/src/group_state.h"

namespace ddp::detail {

// `mine` of each member, in the order of their ranks; all have the same shape and type.
std::vector<at::Tensor> gather_tensors(const GroupState& group, const at::Tensor& mine);

}  // namespace ddp::detail
