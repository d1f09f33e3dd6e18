#include "worker_sdk/src/collective_call.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <sstream>

#include "worker_sdk/src/compat.h"
#include "worker_sdk/src/text.h"
#include "worker_sdk/src/translate.h"
#include "worker_sdk/src/work_state.h"

namespace ddp::detail {
namespace {

// Python warns as well instead of failing; once for each operation is enough.
void warn_no_member(const GroupState& group, const char* what) {
  static std::set<std::string> told;
  if (!told.insert(what).second) return;
  std::fprintf(stderr,
               "[rank %d] %s does nothing: this rank does not belong to the group of ranks %s\n",
               group.global_rank, what, rank_list(group.ranks).c_str());
}

std::string shape_and_type(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes() << ' ' << c10::toString(tensor.scalar_type());
  return text.str();
}

std::string type_name(const at::Tensor& tensor) {
  return c10::toString(tensor.scalar_type());
}

c10d::ReduceOp to_c10d(ReduceOp op) {
  switch (op.kind()) {
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
    case ReduceOp::PREMUL_SUM:
      return compat::premul_sum(op.factor());
  }
  throw std::invalid_argument("this ReduceOp does not exist");
}

const char* name_of(ReduceOp op) {
  static constexpr const char* kNames[] = {"SUM",  "AVG", "PRODUCT", "MIN",       "MAX",
                                           "BAND", "BOR", "BXOR",    "PREMUL_SUM"};
  return kNames[op.kind()];
}

bool is_bitwise(ReduceOp op) {
  return op.kind() == ReduceOp::BAND || op.kind() == ReduceOp::BOR || op.kind() == ReduceOp::BXOR;
}

// Complex numbers are sent as pairs, and for these operations a pair is not two numbers.
bool splits_complex(ReduceOp op) {
  return op.kind() == ReduceOp::SUM || op.kind() == ReduceOp::AVG ||
         op.kind() == ReduceOp::PREMUL_SUM;
}

}  // namespace

CollectiveCall::CollectiveCall(const ProcessGroup& handle, const char* what)
    : group_(resolve(handle, what)), what_(what), waits_for_(waits_in(what)) {
  if (!is_member()) warn_no_member(*group_, what);
}

void CollectiveCall::refuse(const std::string& why) const {
  throw Error(group_->global_rank, std::string(what_) + ": " + why);
}

int CollectiveCall::index_of(int global_rank) const {
  const auto& ranks = group_->ranks;
  const auto found = std::find(ranks.begin(), ranks.end(), global_rank);
  if (found != ranks.end()) return static_cast<int>(found - ranks.begin());
  refuse("rank " + std::to_string(global_rank) + " does not belong to the group of ranks " +
         rank_list(ranks));
}

void CollectiveCall::check_input(const at::Tensor& tensor, const std::string& name,
                                 bool typed) const {
  if (!tensor.defined()) refuse(name + " is an undefined tensor");
  const bool served = (tensor.is_cpu() && group_->gloo) || (tensor.is_cuda() && group_->nccl);
  if (!served && tensor.is_cuda() && group_->backend != "gloo") {
    refuse(name + " is on " + tensor.device().str() + ", but backend " + group_->backend +
           " found no usable GPU when the group was made");
  }
  if (!served) {
    refuse(name + " is on " + tensor.device().str() + ", but backend " + group_->backend +
           " serves " +
           (!group_->gloo  ? "GPUs"
            : group_->nccl ? "the CPU and GPUs"
                           : "the CPU") +
           " only");
  }
  const bool short_integers =
      tensor.scalar_type() == at::kShort || tensor.scalar_type() == at::kUInt16;
  if (typed && tensor.is_cpu() && short_integers) {
    refuse(name + " has 16-bit integers (" + type_name(tensor) +
           "), which Gloo does not know; use 32-bit ones");
  }
}

void CollectiveCall::check_output(const at::Tensor& tensor, const std::string& name,
                                  bool typed) const {
  check_input(tensor, name, typed);
  if (tensor.layout() == at::kStrided && !tensor.is_contiguous()) {
    refuse(name + " is not contiguous; pass a contiguous tensor and copy the result");
  }
}

void CollectiveCall::check_length(std::size_t length, const std::string& name) const {
  if (length == size()) return;
  refuse(name + " has " + std::to_string(length) + " elements for " + std::to_string(size()) +
         " ranks");
}

void CollectiveCall::check_list(const std::vector<at::Tensor>& list, const std::string& name,
                                const at::Tensor& model) const {
  check_length(list.size(), name);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string element = name + "[" + std::to_string(i) + "]";
    check_input(list[i], element);
    if (list[i].sizes() != model.sizes() || list[i].scalar_type() != model.scalar_type()) {
      refuse(element + " is " + shape_and_type(list[i]) + " and not " + shape_and_type(model));
    }
  }
}

void CollectiveCall::check_whole_and_part(const at::Tensor& large, const std::string& large_name,
                                          const at::Tensor& small,
                                          const std::string& small_name) const {
  if (large.numel() == small.numel() * group_->size() &&
      large.scalar_type() == small.scalar_type()) {
    return;
  }
  refuse(large_name + " is " + shape_and_type(large) + " and " + small_name + " " +
         shape_and_type(small) + "; it must have the same type and " + std::to_string(size()) +
         " times as many elements, one part for each rank");
}

Reduction CollectiveCall::reduction(ReduceOp op, const at::Tensor& tensor) const {
  const bool whole = at::isIntegralType(tensor.scalar_type(), /*includeBool=*/true);
  if (op.kind() == ReduceOp::AVG && whole) {
    refuse("AVG of integers (" + type_name(tensor) + "): use SUM, or a floating type");
  }
  if (is_bitwise(op) && !whole) {
    refuse(std::string(name_of(op)) + " needs integers and the tensor is " + type_name(tensor));
  }
  if (tensor.is_complex() && !splits_complex(op)) {
    refuse(std::string(name_of(op)) + " of complex numbers does not exist");
  }
  const bool gloo = is_on_gloo(tensor);
  if (gloo && op.kind() == ReduceOp::PREMUL_SUM) {
    refuse("PREMUL_SUM exists with NCCL only; multiply the tensor and use SUM");
  }
  // Gloo of the oldest version refuses AVG here and silently returns the sum there.
  if (gloo && op.kind() == ReduceOp::AVG) return {c10d::ReduceOp::SUM, true};
  return {to_c10d(op), false};
}

Work CollectiveCall::start(const std::function<c10::intrusive_ptr<c10d::Work>()>& action,
                           std::vector<at::Tensor> results, bool async_op,
                           std::function<void()> finish) const {
  auto state = std::make_shared<WorkState>();
  state->work =
      translated(group_->global_rank, what_, action, explainer(group_->peers, waits_for_));
  state->group = group_;
  state->what = what_;
  state->waits_for = waits_for_;
  state->only_whole_waits = only_whole_waits_;
  state->results = std::move(results);
  state->finish = std::move(finish);
  Work work(std::move(state));
  if (!async_op) work.wait();
  return work;
}

at::Tensor as_real(const at::Tensor& tensor) {
  return tensor.is_complex() ? at::view_as_real(tensor.detach()) : tensor;
}

at::Tensor as_input(const at::Tensor& tensor) {
  return as_real(tensor.contiguous());
}

}  // namespace ddp::detail
