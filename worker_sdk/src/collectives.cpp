#include "ddp/collectives.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "ddp/device.h"
#include "worker_sdk/src/group_state.h"
#include "worker_sdk/src/text.h"
#include "worker_sdk/src/translate.h"

namespace ddp {
namespace {

using detail::GroupState;

// Python warns as well instead of failing; once for each operation is enough.
void warn_no_member(const GroupState& group, const char* what) {
  static std::set<std::string> told;
  if (!told.insert(what).second) return;
  std::fprintf(stderr,
               "[rank %d] %s does nothing: this rank does not belong to the group of ranks %s\n",
               group.global_rank, what, detail::rank_list(group.ranks).c_str());
}

// Runs `action` with c10d's group where this process is a member, and waits.
template <class Action>
bool run(const ProcessGroup& handle, const char* what, Action&& action) {
  const auto group = detail::resolve(handle, what);
  if (!group->is_member()) {
    warn_no_member(*group, what);
    return false;
  }
  detail::translated(group->global_rank, what, [&] { action(*group)->wait(); });
  return true;
}

c10d::ReduceOp::RedOpType to_c10d(ReduceOp op) {
  switch (op) {
    case ReduceOp::SUM:
      return c10d::ReduceOp::SUM;
    case ReduceOp::AVG:
      return c10d::ReduceOp::AVG;
    case ReduceOp::PRODUCT:
      return c10d::ReduceOp::PRODUCT;
    case ReduceOp::MIN:
      return c10d::ReduceOp::MIN;
    case ReduceOp::MAX:
      return c10d::ReduceOp::MAX;
    case ReduceOp::BAND:
      return c10d::ReduceOp::BAND;
    case ReduceOp::BOR:
      return c10d::ReduceOp::BOR;
    case ReduceOp::BXOR:
      return c10d::ReduceOp::BXOR;
  }
  throw std::invalid_argument("this ReduceOp does not exist");
}

int member_index(const GroupState& group, int global_rank, const char* what) {
  const auto found = std::find(group.ranks.begin(), group.ranks.end(), global_rank);
  if (found != group.ranks.end()) return static_cast<int>(found - group.ranks.begin());
  throw Error(group.global_rank, std::string(what) + ": rank " + std::to_string(global_rank) +
                                     " does not belong to the group of ranks " +
                                     detail::rank_list(group.ranks));
}

}  // namespace

void all_reduce(const at::Tensor& tensor, ReduceOp op, const ProcessGroup& group) {
  run(group, "all_reduce", [&](GroupState& state) {
    std::vector<at::Tensor> tensors{tensor};
    c10d::AllreduceOptions options;
    options.reduceOp = to_c10d(op);
    return state.group->allreduce(tensors, options);
  });
}

void broadcast(const at::Tensor& tensor, int src, const ProcessGroup& group) {
  run(group, "broadcast", [&](GroupState& state) {
    std::vector<at::Tensor> tensors{tensor};
    c10d::BroadcastOptions options;
    options.rootRank = member_index(state, src, "broadcast");
    return state.group->broadcast(tensors, options);
  });
}

std::vector<at::Tensor> all_gather(const at::Tensor& tensor, const ProcessGroup& group) {
  std::vector<std::vector<at::Tensor>> outputs(1);
  run(group, "all_gather", [&](GroupState& state) {
    std::vector<at::Tensor> inputs{tensor.contiguous()};
    for (int i = 0; i < state.size(); ++i) {
      outputs[0].push_back(at::empty(tensor.sizes(), tensor.options()));
    }
    return state.group->allgather(outputs, inputs);
  });
  return outputs[0];
}

void barrier(const ProcessGroup& group) {
  run(group, "barrier", [](GroupState& state) {
    c10d::BarrierOptions options;
    // Otherwise NCCL guesses a GPU from the rank, and the guess is wrong where ranks skip GPUs.
    if (state.backend == "nccl") options.device_ids = {local_device().index()};
    return state.group->barrier(options);
  });
}

}  // namespace ddp
