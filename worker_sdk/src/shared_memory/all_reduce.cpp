#include "worker_sdk/src/shared_memory/all_reduce.h"

#include <torch/torch.h>

#include <utility>

namespace ddp::detail {
namespace {

class SharedWork : public c10d::Work {
 public:
  SharedWork(int rank, std::vector<at::Tensor> tensors)
      : Work(rank, c10d::OpType::ALLREDUCE),
        tensors_(std::move(tensors)),
        future_(c10::make_intrusive<c10::ivalue::Future>(
            c10::ListType::create(c10::TensorType::get()))) {}

  void finish_with(std::exception_ptr failure) {
    // In this order, as Gloo has it: when wait() returns, nothing of the callbacks runs any more.
    if (failure) {
      future_->setError(failure);
    } else {
      future_->markCompleted(c10::IValue(tensors_));
    }
    finish(std::move(failure));
  }

  std::vector<at::Tensor> result() override { return tensors_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

 private:
  std::vector<at::Tensor> tensors_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

}  // namespace

bool is_shared_sum(const std::vector<at::Tensor>& tensors, const c10d::ReduceOp& op) {
  if (tensors.size() != 1 || op != c10d::ReduceOp::SUM) return false;
  const at::Tensor& tensor = tensors[0];
  return tensor.layout() == at::kStrided && tensor.is_cpu() && tensor.is_contiguous() &&
         (tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kDouble);
}

c10::intrusive_ptr<c10d::Work> shared_all_reduce(SumQueue& queue,
                                                 const std::vector<at::Tensor>& tensors,
                                                 std::chrono::milliseconds timeout,
                                                 int global_rank) {
  const at::Tensor& tensor = tensors[0];
  auto work = c10::make_intrusive<SharedWork>(global_rank, tensors);
  const Addend addend{
      tensor.data_ptr(), static_cast<std::size_t>(tensor.numel()),
      tensor.scalar_type() == at::kFloat ? Addend::Type::kFloat : Addend::Type::kDouble};
  queue.sum(addend, timeout,
            [work](std::exception_ptr failure) { work->finish_with(std::move(failure)); });
  return work;
}

}  // namespace ddp::detail
