// What a DataParallelCore holds. Its forward, its communication hook and join() work on it, each in
// a file of its own.
#pragma once

#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/logger.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <unordered_map>

#include "ddp/distributed_data_parallel.h"
#include "worker_sdk/src/group_state.h"
#include "worker_sdk/src/output_sink.h"

namespace ddp::detail {

struct DataParallelState {
  std::shared_ptr<GroupState> group;
  std::shared_ptr<torch::nn::Module> module;
  DistributedDataParallelOptions options;
  c10::Device device{c10::kCPU};  // of the parameters
  bool sync_buffers_in_forward = true;
  // Of the parameters that the Reducer knows, by its index; what is frozen later stays in it.
  std::unordered_map<std::size_t, std::string> parameter_names;
  std::string sparse_parameter;  // the first one with sparse gradients; may be empty
  // In this order, so that the logger goes before the reducer that it holds.
  c10::intrusive_ptr<SinkState> sink;
  std::shared_ptr<c10d::Reducer> reducer;
  std::shared_ptr<c10d::Logger> logger;
  // Whether the last forward was a synchronized one, so that the buffers may have changed since.
  bool require_forward_param_sync = true;
  bool require_backward_grad_sync = true;
  JoinOptions join{.enable = false};
  bool has_comm_hook = false;
  bool has_run = false;  // there was a forward whose backward averages
};

}  // namespace ddp::detail
