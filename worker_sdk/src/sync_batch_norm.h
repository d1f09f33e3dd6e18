// The arithmetic of SyncBatchNorm: one forward over the batches of all ranks, with its backward.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <memory>
#include <optional>

#include "worker_sdk/src/group_state.h"

namespace ddp::detail {

// The arguments of aten::batch_norm in training; tensors may be undefined, but not the input.
struct BatchNormArguments {
  at::Tensor input, weight, bias, running_mean, running_var;
  double momentum = 0, eps = 0;
};

// Every member of the group must call it. The group has more than one member.
at::Tensor sync_batch_norm(const std::shared_ptr<GroupState>& group,
                           const BatchNormArguments& arguments);

// The group whose batches are joined, or null where batch normalization is to be a plain one:
// without a process group, on a rank outside it, with one rank.
std::shared_ptr<GroupState> group_to_sync(const ProcessGroup& handle);

// Whether a layer of the module joins the batches of the ranks.
bool has_sync_batch_norm(torch::nn::Module& module);

}  // namespace ddp::detail
