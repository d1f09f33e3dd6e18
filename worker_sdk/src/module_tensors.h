// The parameters and buffers of a module, in Python's order and each once.
#pragma once

#include <torch/nn/module.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "worker_sdk/src/group_state.h"

namespace ddp::detail {

// Of a broadcast of parameters or buffers, as in Python.
inline constexpr std::size_t kBroadcastBytes = 250 * 1024 * 1024;

// What the Reducer works on: parameters that need a gradient.
struct TrainableParameters {
  std::vector<at::Tensor> tensors;
  std::vector<bool> expect_sparse;  // owned by an Embedding with sparse gradients
  std::unordered_map<std::size_t, std::string> names;
};

TrainableParameters trainable_parameters(torch::nn::Module& module);

// Name of the first one that is expected to have sparse gradients; empty if there is none.
std::string first_sparse(const TrainableParameters& parameters);

// What rank 0 sends at construction: all parameters, and the buffers if `with_buffers`; detached.
struct NamedTensors {
  std::vector<std::string> names;
  std::vector<at::Tensor> tensors;
};
NamedTensors module_states(const torch::nn::Module& module, bool with_buffers);

// The parameters by name; one that the module lists under two names once, under the first.
torch::OrderedDict<std::string, at::Tensor> unique_parameters(const torch::nn::Module& module);

// The buffers; asked for anew before each broadcast because a module may replace them.
std::vector<at::Tensor> unique_buffers(torch::nn::Module& module);

// Checks that shapes, types, strides of parameters, and order agree on all ranks of the group.
// Throws ddp::Error, the same text on each of them, which names the first difference; in a group
// with Python ranks only what c10d itself checks, since more would confuse them.
void verify_same_model(const GroupState& group, const TrainableParameters& parameters,
                       const NamedTensors& states);

}  // namespace ddp::detail
