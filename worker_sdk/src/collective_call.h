// What all collectives have in common: the group, checks of the arguments, and the Work.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "ddp/reduce_op.h"
#include "ddp/work.h"
#include "worker_sdk/src/group_state.h"

namespace ddp::detail {

// How the backend combines, and whether the result is to be divided by the number of ranks after.
struct Reduction {
  c10d::ReduceOp op;
  bool divide = false;
};

// One call of a collective. Each check throws ddp::Error that begins with the collective's name.
class CollectiveCall {
 public:
  // Throws before init_process_group. Warns on a rank outside the group, once for each `what`.
  CollectiveCall(const ProcessGroup& handle, const char* what);

  // False on a rank outside the group, which must not go on.
  bool is_member() const { return group_->is_member(); }
  const GroupState& group() const { return *group_; }
  c10d::ProcessGroup& c10d() const { return *group_->group; }
  std::size_t size() const { return group_->ranks.size(); }

  [[noreturn]] void refuse(const std::string& why) const;

  // Index in the group of a global rank, which must belong to it.
  int index_of(int global_rank) const;
  // It is this rank that start() waits for.
  void waits_for(int global_rank) { waits_for_ = {.all = false, .rank = global_rank}; }
  // Its Work takes no limit for wait.
  void waits_only_as_a_whole() { only_whole_waits_ = true; }
  // A tensor that is only read: defined, on a device and, if `typed`, of a type of the backend.
  void check_input(const at::Tensor& tensor, const std::string& name, bool typed = true) const;
  // One that is written to: contiguous as well.
  void check_output(const at::Tensor& tensor, const std::string& name, bool typed = true) const;
  // One tensor for each rank, each like `model`.
  void check_list(const std::vector<at::Tensor>& list, const std::string& name,
                  const at::Tensor& model) const;
  void check_length(std::size_t length, const std::string& name) const;
  // `large` has room for one `small` of each rank, and the same type.
  void check_whole_and_part(const at::Tensor& large, const std::string& large_name,
                            const at::Tensor& small, const std::string& small_name) const;
  // Whether Gloo, and not NCCL, works on it.
  bool is_on_gloo(const at::Tensor& tensor) const { return group_->gloo && tensor.is_cpu(); }
  // `op` must suit the type of `tensor` and the backend.
  Reduction reduction(ReduceOp op, const at::Tensor& tensor) const;

  // Runs `action`, which starts the operation, and waits unless `async_op`. `finish` runs once
  // after it.
  Work start(const std::function<c10::intrusive_ptr<c10d::Work>()>& action,
             std::vector<at::Tensor> results, bool async_op,
             std::function<void()> finish = nullptr) const;

 private:
  std::shared_ptr<GroupState> group_;
  const char* what_;
  WaitsFor waits_for_;
  bool only_whole_waits_ = false;
};

// What is sent for `tensor`: pairs of real numbers for complex ones, which Gloo does not know.
at::Tensor as_real(const at::Tensor& tensor);
// The same, contiguous: a copy where it was not.
at::Tensor as_input(const at::Tensor& tensor);

}  // namespace ddp::detail
