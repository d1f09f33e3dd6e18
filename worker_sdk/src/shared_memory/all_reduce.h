// c10d's all-reduce by way of a SumQueue.
#pragma once

#include <chrono>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "worker_sdk/src/shared_memory/sum_queue.h"

namespace ddp::detail {

// Whether it is a sum that a SumQueue can make. Decided by what has to be the same on all ranks.
bool is_shared_sum(const std::vector<at::Tensor>& tensors, const c10d::ReduceOp& op);

// Begins the all-reduce of the one tensor.
c10::intrusive_ptr<c10d::Work> shared_all_reduce(SumQueue& queue,
                                                 const std::vector<at::Tensor>& tensors,
                                                 std::chrono::milliseconds timeout,
                                                 int global_rank);

}  // namespace ddp::detail
