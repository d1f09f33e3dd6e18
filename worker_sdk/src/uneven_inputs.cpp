#include "worker_sdk/src/uneven_inputs.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <cstdio>
#include <utility>

#include "worker_sdk/src/module_tensors.h"

namespace ddp::detail {
namespace {

constexpr int kManyIterations = 1000;

c10::intrusive_ptr<c10d::Work> start_all_reduce(const DataParallelState& state,
                                                const at::Tensor& tensor,
                                                c10d::ReduceOp op = c10d::ReduceOp::SUM) {
  std::vector<at::Tensor> tensors{tensor};
  c10d::AllreduceOptions options;
  options.reduceOp = std::move(op);
  return state.group->group->allreduce(tensors, options);
}

at::Tensor flag(const DataParallelState& state, bool on) {
  return at::full({1}, on ? 1. : 0., at::TensorOptions().device(state.device));
}

double sum_of_flags(const DataParallelState& state, bool mine) {
  const at::Tensor sum = flag(state, mine);
  start_all_reduce(state, sum)->wait();
  return sum.item<double>();
}

// The largest rank of those that are candidates.
int common_rank(const DataParallelState& state, bool candidate) {
  const at::Tensor rank = at::full({1}, candidate ? state.group->rank : -1,
                                   at::TensorOptions(at::kLong).device(state.device));
  start_all_reduce(state, rank, c10d::ReduceOp::MAX)->wait();
  return rank.item<int>();
}

// Zeros through all_reduce or the communication hook, bucket by bucket, as the others do it.
void shadow_backward(const DataParallelState& state) {
  std::vector<c10::intrusive_ptr<c10::ivalue::Future>> futures;
  auto buckets = state.reducer->get_grad_buckets(/*return_zero_tensors=*/true);
  for (c10d::GradBucket& bucket : buckets) {
    futures.push_back(state.reducer->run_comm_hook(bucket));
  }
  for (const auto& future : futures) future->waitAndThrow();
  // With a static graph the others know which are unused after their first iteration.
  if (state.options.find_unused_parameters && !state.options.static_graph) {
    start_all_reduce(state, state.reducer->get_local_used_map_on_device())->wait();
  }
  state.reducer->push_rebuilt_params_for_all_indices();
}

// One forward and backward of the others.
void shadow_iteration(DataParallelState& state) {
  state.reducer->rebuild_buckets();
  if (syncs_buffers(state)) broadcast_buffers(state, common_rank(state, false));
  state.require_forward_param_sync = sum_of_flags(state, false) != 0;
  if (state.require_forward_param_sync) shadow_backward(state);
}

void warn_of_many_iterations(const DataParallelState& state, int iterations) {
  if (iterations != kManyIterations) return;
  std::fprintf(stderr,
               "[rank %d] join: this rank had its last input %d iterations ago, and others still "
               "have some; training would be faster with inputs of about the same number\n",
               state.group->global_rank, kManyIterations);
}

}  // namespace

void check_can_join(const DataParallelState& state) {
  const auto refuse = [&](const std::string& why) {
    throw Error(state.group->global_rank, "join: " + why);
  };
  if (state.options.skip_all_reduce_unused_params) {
    refuse(
        "it cannot be used with skip_all_reduce_unused_params: a rank without more inputs would "
        "not know which buckets the others leave out; leave that option out");
  }
  if (!state.sparse_parameter.empty()) {
    refuse("the parameter " + state.sparse_parameter +
           " has sparse gradients, in whose place a rank without more inputs has nothing to send; "
           "use an embedding without sparse(true)");
  }
}

bool syncs_buffers(const DataParallelState& state) {
  return state.require_forward_param_sync && state.sync_buffers_in_forward &&
         !unique_buffers(*state.module).empty();
}

void broadcast_buffers(const DataParallelState& state, int root) {
  const at::NoGradGuard no_grad;
  c10d::broadcast_coalesced(state.group->group, unique_buffers(*state.module), kBroadcastBytes,
                            root);
}

int authoritative_rank(const DataParallelState& state) {
  // Rank 0 may have joined, and its buffers be old.
  return state.join.enable ? common_rank(state, true) : 0;
}

void notify_join_context(DataParallelState& state) {
  if (!state.join.enable) return;
  auto work = start_all_reduce(state, flag(state, true));
  if (state.join.throw_on_early_termination && sum_of_flags(state, false) != 0) {
    throw Error(state.group->global_rank,
                "join: another rank has no more inputs, and throw_on_early_termination is set, so "
                "all ranks stop here");
  }
  state.reducer->set_forward_pass_work_handle(std::move(work),
                                              state.join.divide_by_initial_world_size);
}

void announce_backward_sync(const DataParallelState& state) {
  // Nobody here waits for it: only ranks that have joined need to know.
  if (state.join.enable) start_all_reduce(state, flag(state, state.require_backward_grad_sync));
}

void shadow_others(DataParallelState& state) {
  bool last_joiner = true;
  for (int iterations = 0; sum_of_flags(state, false) != 0; ++iterations) {
    if (state.join.throw_on_early_termination) {
      start_all_reduce(state, flag(state, true))->wait();
      throw Error(state.group->global_rank,
                  "join: this rank has no more inputs, but others have, and "
                  "throw_on_early_termination is set");
    }
    warn_of_many_iterations(state, iterations);
    shadow_iteration(state);
    last_joiner = false;
  }
  const auto states = module_states(*state.module, state.sync_buffers_in_forward);
  c10d::broadcast_coalesced(state.group->group, states.tensors, kBroadcastBytes,
                            common_rank(state, last_joiner));
}

void leave_join_context(DataParallelState& state) {
  if (!state.group->only_sdk_ranks) return;
  state.join.enable = false;
  state.reducer->set_forward_pass_work_handle(nullptr, /*useStaticWorldSize=*/true);
}

}  // namespace ddp::detail
