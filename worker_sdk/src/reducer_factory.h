// From the options of a DistributedDataParallel to c10d's Reducer.
#pragma once

#include <memory>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "ddp/distributed_data_parallel.h"
#include "worker_sdk/src/group_state.h"
#include "worker_sdk/src/module_tensors.h"

namespace ddp::detail {

// Throws ddp::Error for an option that makes no sense; warns on stderr of one that has no effect.
void check_options(const GroupState& group, const DistributedDataParallelOptions& options);

// Throws ddp::Error for an option that this LibTorch does not have. Anything else comes from c10d.
std::shared_ptr<c10d::Reducer> make_reducer(const GroupState& group,
                                            const TrainableParameters& parameters,
                                            const DistributedDataParallelOptions& options);

}  // namespace ddp::detail
