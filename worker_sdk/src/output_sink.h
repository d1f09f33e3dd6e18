// The node that every output of a forward passes through on its way back.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <vector>

namespace ddp::detail {

// Shared by a DistributedDataParallel and the graphs that its forwards have built.
struct SinkState : torch::CustomClassHolder {
  std::shared_ptr<c10d::Reducer> reducer;
  bool static_graph = false;
  // With static_graph, the first backward reduces everything at its end, once.
  bool delay_all_reduce_enqueued = false;
};

// Replaces the tensors that have a gradient function by copies behind one common node. An output
// that the loss ignores then still reaches the parameters, with an undefined gradient. PyTorch:
// _DDPSink in torch/nn/parallel/distributed.py.
void pass_through_sink(const c10::intrusive_ptr<SinkState>& state,
                       const std::vector<at::Tensor*>& outputs);

}  // namespace ddp::detail
